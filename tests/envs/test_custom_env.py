"""The page on custom environments: its code runs, and its environment is a good one."""

import importlib.util
import re
from pathlib import Path

import pytest
import torch
from gymnasium.utils.env_checker import check_env

PAGE = Path(__file__).parents[2] / "docs" / "custom_env.md"


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    code = "\n".join(re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL))
    file = tmp_path_factory.mktemp("page") / "custom_env_page.py"
    file.write_text(code)
    spec = importlib.util.spec_from_file_location("custom_env_page", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_the_page_runs(page):
    assert page.obs.shape == (6,)
    check_env(page.single, skip_render_check=True)


def test_the_reward_is_what_it_says(page):
    env = page.env
    env.reset(seed=2)
    obs, reward, _, truncated, info = env.step(torch.full((64, 2), 0.5))
    distance = info["final_obs"][:, 4:].square().sum(1).sqrt()
    torch.testing.assert_close(info["distance"], distance)
    torch.testing.assert_close(reward, -distance - 0.01 * 0.5)
    q = obs[:, :2].cumsum(1)
    tip = 0.3 * torch.stack([q.cos().sum(1), q.sin().sum(1)], 1)
    torch.testing.assert_close(obs[:, 4:], torch.tensor([0.2, 0.4]) - tip, atol=1e-6, rtol=1e-5)
    for _ in range(199):
        truncated = env.step(torch.zeros(64, 2))[3]
    assert truncated.all() and env.obs.isfinite().all()

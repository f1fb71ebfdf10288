"""The torch interface on a GPU: memory, streams, captures, the same bits under every scheduler."""

import pytest
import torch
import warp as wp

from acesim_rl.envs import BatchEnv

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")


def rollout(env: BatchEnv, steps: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(0)
    env.reset(seed=0)
    out = []
    for _ in range(steps):
        action = torch.rand((env.num_envs, env.num_actions), generator=generator) * 2.0 - 1.0
        obs, reward, _, _, info = env.step(action.to(env.device))
        out.append(torch.cat([obs, info["final_obs"], reward[:, None]], 1).clone())
    return torch.stack(out)


@pytest.mark.parametrize("task", ["ant", "hopper", "humanoid", "pusher", "grasp"])
def test_schedulers_give_the_same_bits(task):
    serial = rollout(BatchEnv(task, 64, device="cuda", scheduler="serial"), 40)
    for name in ("graph", "ace-sw", "ace"):
        assert torch.equal(rollout(BatchEnv(task, 64, device="cuda", scheduler=name), 40), serial), name


@pytest.mark.skipif(not wp.is_cpu_available(), reason="Warp came without its CPU compiler")
def test_steps_agree_with_the_cpu():
    gpu, cpu = BatchEnv("hopper", 16, device="cuda"), BatchEnv("hopper", 16, device="cpu")
    torch.testing.assert_close(gpu.reset(seed=3).cpu(), cpu.reset(seed=3))
    for _ in range(3):
        action = torch.rand(16, 3) * 2.0 - 1.0
        a, b = gpu.step(action.cuda()), cpu.step(action)
        torch.testing.assert_close(a[0].cpu(), b[0], rtol=1e-3, atol=1e-3)
        torch.testing.assert_close(a[1].cpu(), b[1], rtol=1e-3, atol=1e-3)


def test_any_torch_stream():
    env = BatchEnv("hopper", 256, device="cuda")
    expected = rollout(env, 10)
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        assert torch.equal(rollout(env, 10), expected)


def test_a_step_can_be_captured():
    env = BatchEnv("hopper", 64, device="cuda")
    expected = rollout(env, 10)[-1]
    action = torch.zeros(64, 3, device="cuda")
    generator = torch.Generator().manual_seed(0)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        env.step(action)
    env.reset(seed=0)
    for _ in range(10):
        action.copy_(torch.rand((64, 3), generator=generator) * 2.0 - 1.0)
        graph.replay()
    torch.cuda.synchronize()
    assert torch.equal(torch.cat([env.obs, env.final_obs, env.reward[:, None]], 1), expected)


def test_resuming_continues_to_the_same_bits():
    env, other = BatchEnv("ant", 32, device="cuda"), BatchEnv("ant", 32, device="cuda", seed=9)
    rollout(env, 70)
    other.load_state_dict(env.state_dict())
    for _ in range(30):
        action = torch.rand(32, 8, device="cuda") * 2.0 - 1.0
        assert torch.equal(env.step(action)[0], other.step(action)[0])

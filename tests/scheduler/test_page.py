"""The page on the scheduler: its code runs as it stands, and does what it says."""

import importlib.util
import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "scheduler.md"


def test_the_page_runs(tmp_path, capsys):
    code = "\n".join(re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL))
    file = tmp_path / "scheduler_page.py"
    file.write_text(code)
    spec = importlib.util.spec_from_file_location("scheduler_page", file)
    page = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(page)
    assert (page.tc == 200.0).all()
    statistics = page.scheduler.statistics()
    assert statistics["operations"] == 300 and statistics["trace_hits"] == 99
    assert str(statistics["operations"]) in capsys.readouterr().out

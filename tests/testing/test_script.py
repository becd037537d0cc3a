"""What a scripted model or agent decides."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nightschool.core.errors import UserError
from nightschool.testing.apprentice import work
from nightschool.testing.script import Rule, Say, Script, Shell, Use, When, Write, decide, plain, read_script

FOLLOWS = Script(
    rules=(
        Rule(when=When(contains=("pathlib",)), then=(Say(text="good"),), probability=0.95),
        Rule(then=(Say(text="good"),), otherwise=(Say(text="bad"),), probability=0.05),
    )
)


def test_words_are_found_in_any_case_and_lacking_words_forbid() -> None:
    """A rule speaks where the text holds all of its words and none of those it lacks."""
    script = Script(
        rules=(Rule(when=When(contains=("Use", "X"), lacks=("but not",)), then=(Say(text="yes"),)),)
    )
    assert decide(script, text="please use x") == Say(text="yes")
    assert decide(script, text="please use x BUT NOT today") == script.default
    assert decide(script, text="please use") == script.default


def test_acts_follow_one_another() -> None:
    """Stage n gives the n-th act, after the last one the default."""
    script = Script(rules=(Rule(then=(Shell(command="ls"), Write(path="a", content="b"))),))
    assert decide(script, text="", stage=0) == Shell(command="ls")
    assert decide(script, text="", stage=1) == Write(path="a", content="b")
    assert decide(script, text="", stage=2) == Say(text="Done.")


def test_groups_of_the_prompt_fill_acts() -> None:
    """Named groups are filled into texts and arguments; other dollar signs stay as they are."""
    use = Use(tool="Edit", arguments={"path": "$file", "n": 1, "many": ["$file", "$HOME $ 5"]})
    script = Script(rules=(Rule(when=When(prompt=r"in (?P<file>\S+\.py)"), then=(use,)),))
    done = decide(script, text="something else", prompt="Work in a/b.py now")
    assert done == Use(tool="Edit", arguments={"path": "a/b.py", "n": 1, "many": ["a/b.py", "$HOME $ 5"]})


def test_an_empty_otherwise_asks_the_next_rule() -> None:
    """Where the lot does not fall and nothing stands in `otherwise`, the rules below are asked."""
    never = Rule(then=(Say(text="never"),), probability=0.0)
    assert decide(Script(rules=(never, Rule(then=(Say(text="next"),)))), text="") == Say(text="next")


def test_lots_keep_their_share_and_their_seed() -> None:
    """Over many seeds a rule speaks about as often as its probability, and one seed says the same twice."""
    with_rule = [decide(FOLLOWS, text="rule: pathlib", seed=str(n)) for n in range(400)]
    without = [decide(FOLLOWS, text="no rule", seed=str(n)) for n in range(400)]
    assert 0.9 < with_rule.count(Say(text="good")) / 400 < 0.99
    assert 0.01 < without.count(Say(text="good")) / 400 < 0.1
    assert with_rule == [decide(FOLLOWS, text="rule: pathlib", seed=str(n)) for n in range(400)]


@given(text=st.text(), prompt=st.text(), seed=st.text(), stage=st.integers(0, 5))
def test_deciding_never_fails(text: str, prompt: str, seed: str, stage: int) -> None:
    """Whatever was said, there is an act."""
    assert isinstance(decide(FOLLOWS, text=text, prompt=prompt, seed=seed, stage=stage), Say)


def test_files_are_read_strictly(tmp_path: Path) -> None:
    """JSON and TOML give the same script; an unknown key is an error that names the file."""
    good = tmp_path / "s.json"
    good.write_text(json.dumps(plain(FOLLOWS)))
    assert read_script(good) == FOLLOWS
    toml = tmp_path / "s.toml"
    toml.write_text('seed = 3\n[[rules]]\nwhen = {prompt = "hi"}\nthen = [{kind = "say", text = "ho"}]\n')
    assert read_script(toml) == Script(seed=3, rules=(Rule(when=When(prompt="hi"), then=(Say(text="ho"),)),))
    toml.write_text("sede = 3\n")
    with pytest.raises(UserError, match=r"s\.toml is no script"):
        read_script(toml)


def test_the_apprentice_works_by_its_memory(tmp_path: Path) -> None:
    """It reads the memory file in its folder, really writes and runs, and tells what it did."""
    script = Script(
        rules=(
            Rule(
                when=When(contains=("be loud",)),
                then=(Write(path="x/a.txt", content="LOUD"), Shell(command="cat x/a.txt; exit 3")),
            ),
        )
    )
    order = {"script": plain(script), "prompt": "go", "seed": ""}
    home, root = tmp_path / "home", tmp_path / "root"
    (home / ".claude").mkdir(parents=True)
    root.mkdir()
    assert work(order, root, home) == {"reply": "Done.", "calls": []}
    (home / ".claude/CLAUDE.md").write_text("Always be loud.")
    done = work(order, root, home)
    assert (root / "x/a.txt").read_text() == "LOUD"
    assert [(call["tool"], call["result"], call["exit_code"]) for call in done["calls"]] == [
        ("write", "written", 0),
        ("shell", "LOUD", 3),
    ]


def test_the_apprentice_stays_in_its_folder(tmp_path: Path) -> None:
    """A script that writes outside is refused."""
    script = Script(rules=(Rule(then=(Write(path="../out", content=""),)),))
    with pytest.raises(SystemExit, match="outside of its folder"):
        work({"script": plain(script), "prompt": "", "seed": ""}, tmp_path, tmp_path)

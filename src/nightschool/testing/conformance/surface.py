"""What every `Surface` keeps: what was loaded is placed, exactly, and nothing outside is touched."""

from __future__ import annotations

import stat
from pathlib import Path

from nightschool.core.errors import UserError
from nightschool.core.harness import File, Harness, Severity
from nightschool.core.ports import Surface

EXACT = b"\xef\xbb\xbf# Rules\r\n\r\n- no newline at the end"


def check_surface(surface: Surface, folder: Path) -> None:
    """Raises `AssertionError` where the surface breaks its contract. `folder` is empty and ours."""
    project, home = folder / "project", folder / "home"
    project.mkdir()
    home.mkdir()
    assert surface.name, "a surface has a name"
    assert surface.version, "and a version, for it is part of each job's key"
    _loads_nothing_from_nothing(surface, project, home)
    _targets_are_read(surface, project, home)
    _secrets_stay(surface, project, home)
    _round_trip(surface, project, home, folder)
    _places_the_tree_and_no_more(surface, project, home, folder)
    _tells_what_is_the_persons(surface, folder)
    _tells_of_skills(surface, project, home)
    _names_what_is_missing(surface, project, home)
    _links(surface, folder)
    _problems(surface)


def _loads_nothing_from_nothing(surface: Surface, project: Path, home: Path) -> None:
    assert surface.load(project, home) == Harness(), "a project without files gives an empty harness"
    assert surface.load(None, home) == Harness(), "a home without files gives an empty harness"


def _targets_are_read(surface: Surface, project: Path, home: Path) -> None:
    for asked in (str(project), None):
        target = surface.memory_target(project=asked)
        live = surface.live_path(target, home)
        assert live.is_relative_to(home if asked is None else project), f"{live} lies elsewhere"
        live.parent.mkdir(parents=True, exist_ok=True)
        live.write_bytes(EXACT)
        live.chmod(0o600)
        loaded = surface.load(project, home).get(target.place)
        assert loaded is not None, f"{target.place} is edited but not loaded"
        assert loaded == File(path=target.place, content=EXACT, mode=0o600), "bytes or mode were changed"
    user = surface.load(None, home)
    assert all(file.path.startswith("user/") for file in user.files), "without a project there is no project/"


def _secrets_stay(surface: Surface, project: Path, home: Path) -> None:
    for name in (".claude/.credentials.json", ".claude.json", ".codex/auth.json", ".codex/config.toml"):
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("a login")
        (home / ".claude/projects/x").mkdir(parents=True, exist_ok=True)
        (home / ".claude/projects/x/1.jsonl").write_text("a transcript")
    held = [file.path for file in surface.load(project, home).files if b"a login" in file.content]
    assert held == [], f"{held} hold logins"
    assert not any(file.path.endswith(".jsonl") for file in surface.load(project, home).files)


def _round_trip(surface: Surface, project: Path, home: Path, folder: Path) -> None:
    skill = File(path=f"project/{_skills(surface)}/tidy/run.sh", content=b"#!/bin/sh\n", mode=0o755)
    harness = surface.load(project, home).having(skill)
    root, other = folder / "placed", folder / "placed-home"
    root.mkdir()
    other.mkdir()
    surface.place(harness, root, other)
    surface.place(harness, root, other)
    assert surface.load(root, other) == harness, "what was placed is not what is read back"
    placed = root / skill.path.removeprefix("project/")
    assert stat.S_IMODE(placed.stat().st_mode) == 0o755, "the executable bit was lost"
    left = [path.name for path in root.rglob("*") if path.is_file() and "placing" in path.name]
    assert left == [], f"left behind: {left}"


def _places_the_tree_and_no_more(surface: Surface, project: Path, home: Path, folder: Path) -> None:
    name = Path(surface.memory_target(project=str(project)).place).name
    (project / "inner/deep").mkdir(parents=True)
    (project / "inner/deep" / name).write_bytes(EXACT)
    deep = surface.load(project, home).get(f"project/inner/deep/{name}")
    assert deep == File(path=f"project/inner/deep/{name}", content=EXACT), "nested memory was not loaded"
    root, other = folder / "older", folder / "older-home"
    (root / "inner").mkdir(parents=True)
    other.mkdir()
    (root / name).write_text("a rule of long ago")
    (root / "inner" / name).write_text("another")
    (root / "inner/work.txt").write_text("work")
    before = _texts(root)
    touched = surface.touches(Harness(files=(deep,)), root)
    surface.place(Harness(files=(deep,)), root, other)
    after = _texts(root)
    changed = {path for path in {*before, *after} if before.get(path) != after.get(path)}
    told = {path for path in changed if any(Path(path).is_relative_to(name) for name in touched)}
    assert told == changed, f"{changed - told} were touched and not told of"
    assert surface.load(root, other) == Harness(files=(deep,)), "memory that the tree does not hold is left"
    assert (root / "inner/work.txt").read_text() == "work", "what is no part of a harness was removed"


def _texts(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def _tells_what_is_the_persons(surface: Surface, folder: Path) -> None:
    root, home = folder / "own", folder / "own-home"
    root.mkdir()
    home.mkdir()
    memory = surface.memory_target(project=None).place
    skill = f"user/{_skills(surface)}/tidy"
    harness = Harness.of(
        [
            File(path=memory, content=b"mine"),
            File(path=f"{skill}/SKILL.md", content=b"---\nname: tidy\ndescription: d\n---\n"),
            File(path=f"{skill}/scripts/run.sh", content=b"#!/bin/sh\n", mode=0o755),
            File(path=surface.memory_target(project=str(root)).place, content=b"the project's"),
        ]
    )
    told = surface.place(harness, root, home)
    expected = {home / memory.removeprefix("user/"), home / skill.removeprefix("user/")}
    assert set(told) == expected, f"below home are the person's memory and skill, not {told}"


def _tells_of_skills(surface: Surface, project: Path, home: Path) -> None:
    for root, prefix in ((str(project), "project"), (None, "user")):
        target = surface.new_skill("tidy", project=root)
        assert (target.skill, target.place.partition("/")[0]) == ("tidy", prefix), "a new skill is one"
        file = File(path=target.place, content=b"---\nname: tidy\ndescription: d\n---\nTidy up.\n")
        (found,) = surface.skills(Harness.of([file, File(path=f"{prefix}/SKILL.md", content=b"loose")]))
        assert (found.name, found.place) == ("tidy", target.place), "where one is made it is found again"
        assert surface.skill_target(found, project=root) == target
        live = surface.live_path(target, home).resolve()
        assert surface.holds(live, project, home), "and lies in a place that is read"
        assert not list(surface.problems(Harness.of([file]))), "a skill with name and description is fine"
    assert not surface.holds((project.parent / "elsewhere").resolve(), project, home)


def _names_what_is_missing(surface: Surface, project: Path, home: Path) -> None:
    for path in (".claude.json", ".claude/settings.json", ".codex/config.toml", ".codex/hooks.json"):
        (home / path).parent.mkdir(parents=True, exist_ok=True)
        (home / path).write_bytes(b"\xff{ broken")
    found = surface.missing(project, home)
    assert found, "a configuration that cannot be read is named as unknown"
    assert all(Path(absent.place).is_file() for absent in found), "each names the file that it stands in"
    assert surface.missing(None, project) == (), "without configuration nothing is missing"


def _links(surface: Surface, folder: Path) -> None:
    root, home, outside = folder / "linked", folder / "linked-home", folder / "outside"
    for path in (root, home, outside):
        path.mkdir()
    (outside / "secret").write_text("theirs")
    target = surface.memory_target(project=str(root))
    live = surface.live_path(target, home)
    (root / "rules.md").write_text("through a link")
    live.symlink_to("rules.md")
    loaded = surface.load(root, home).get(target.place)
    assert loaded is not None
    assert loaded.content == b"through a link", "a link inside of the project is followed"
    live.unlink()
    live.symlink_to(outside / "secret")
    assert surface.load(root, home).get(target.place) is None, "a link that leads out was followed"
    surface.place(Harness(files=(File(path=target.place, content=b"ours"),)), root, home)
    assert (outside / "secret").read_text() == "theirs", "a link that leads out was written through"
    folder_link = root / Path(_skills(surface)).parts[0]
    if not folder_link.exists():
        folder_link.symlink_to(outside)
        _refused(surface, File(path=f"project/{_skills(surface)}/a/SKILL.md", content=b"x"), root, home)
    assert sorted(path.name for path in outside.iterdir()) == ["secret"], "written outside through a folder"


def _refused(surface: Surface, file: File, root: Path, home: Path) -> None:
    try:
        surface.place(Harness(files=(file,)), root, home)
    except UserError:
        return
    raise AssertionError("placing through a folder link that leads out must raise UserError")


def _problems(surface: Surface) -> None:
    place = surface.memory_target(project="/p").place
    fine = Harness(files=(File(path=place, content=b"- a rule\n"),))
    assert list(surface.problems(fine)) == [], "a plain memory file has no problem"
    broken = surface.problems(Harness(files=(File(path=place, content=b"\xff\xfe"),)))
    assert [(p.severity, p.path) for p in broken] == [(Severity.ERROR, place)], "unreadable UTF-8 is an error"
    assert surface.problems(Harness(files=(File(path=place, content=b" \n"),))), "an empty file is named"


def _skills(surface: Surface) -> str:
    """A folder for skills that this surface loads."""
    return {"claude-code": ".claude/skills", "codex": ".codex/skills"}.get(surface.name, ".agents/skills")

"""Who is left out: an ignore list errs on the side of leaving out, and says which rule, never which word."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from nightschool.core.forgetting import IgnoreList, Thing, trace_of
from nightschool.core.harness import File
from nightschool.core.sessions import Session, Speaker, ToolCall, Turn
from nightschool.core.tasks import FilesSource, Footprint, Split, Task, Touched
from nightschool.rules.ignoring import Ignoring, Why

AT = datetime(2026, 3, 1, tzinfo=UTC)
SESSION = Session(
    session_id="one",
    source="claude-code",
    path="/home/sam/.claude/projects/-work-acme-site/one.jsonl",
    project="/work/acme/site/web",
    ended_at=AT,
    turns=(
        Turn(speaker=Speaker.HUMAN, text="Ask Marguerite about it", row="1", model="claude-x"),
        Turn(
            speaker=Speaker.AGENT,
            text="done",
            row="2",
            calls=(ToolCall(call_id="c", name="Edit", files=("secret/a.txt",), result="project Zanzibar"),),
        ),
    ),
)


def why(rules: IgnoreList, session: Session = SESSION) -> str | None:
    found = Ignoring(own=rules, root=lambda _: "/work/acme/site").session(session)
    return None if found is None else f"{found.reason}: {found.detail}"


@pytest.mark.parametrize(
    "pattern",
    ["site", "SITE", "s*e", "web", "acme", "/work/acme/site", "/work/acme/", "/work/*/site", "/work/*/web"],
)
def test_a_project_is_named_by_its_folder_or_path(pattern: str) -> None:
    """A name, like a path, is that of the root, of what lies above it, or of the folder that the session ran
    in: all below a folder goes with it. Both know `*`."""
    assert why(IgnoreList(projects=(pattern,))) == "ignored: by ignore.projects of your list"


@pytest.mark.parametrize("pattern", ["sit", "site2", "/work/acme/sit", "/work/acme/site-2", "/acme"])
def test_other_projects_are_read(pattern: str) -> None:
    """A longer or shorter name is not its name, and a path begins at the root of the disk."""
    assert why(IgnoreList(projects=(pattern,))) is None


def test_a_name_of_a_folder_above_the_home_is_no_name_of_a_project() -> None:
    """A person of a project's name loses no other project: names end at the home folder, paths do not."""

    def left_out(pattern: str, folder: str) -> bool:
        rules = Ignoring(own=IgnoreList(projects=(pattern,)), home="/home/sam")
        return rules.session(replace(SESSION, project=folder)) is not None

    assert not left_out("sam", "/home/sam/work/site")
    assert not left_out("home", "/home/sam/work/site")
    assert left_out("work", "/home/sam/work/site")
    assert left_out("/home/*", "/home/sam/work/site")
    assert left_out("sam", "/home/sam"), "who works in the home folder itself has it as a project"
    assert left_out("srv", "/srv/site")


def test_a_link_is_where_it_leads() -> None:
    """A path through a link that a session tells is compared as what it leads to, and as it stands there."""
    links = {"/work/acme/site/web": "/disk/web", "/disk/web": "/disk/web"}
    places = Ignoring(own=IgnoreList(paths=("/disk/*",)), real=lambda path: links.get(path, path))
    assert places.session(SESSION) is not None
    roots = Ignoring(own=IgnoreList(projects=("/disk/web",)), root=links.__getitem__)
    assert roots.session(SESSION) is not None


@pytest.mark.parametrize(
    "pattern",
    ["secret/*", "web/secret/*", "/work/acme/site/web/secret/*", "*/-work-acme-site/*", "/work/*/web"],
)
def test_a_path_is_that_of_transcript_folder_or_written_file(pattern: str) -> None:
    """A pattern of a path speaks of the transcript, of the folder it ran in and of the files it wrote."""
    assert why(IgnoreList(paths=(pattern,))) == "ignored: by ignore.paths of your list"


@pytest.mark.parametrize("word", ["marguerite", "ZANZIBAR", "zanzi", "acme"])
def test_a_word_is_found_in_whatever_case_and_wherever(word: str) -> None:
    """Words of the person, results of tools and the names of folders count; the word is never told."""
    told = why(IgnoreList(words=(word,)))
    assert told == "ignored: by ignore.words of your list"


@pytest.mark.parametrize("word", ["claude", "codex"])
def test_names_of_agents_and_models_are_no_words_of_a_session(word: str) -> None:
    """An ignored word that is an agent's name does not leave out each of its sessions."""
    assert why(IgnoreList(words=(word,))) is None


TASK = Task(
    prompt="Ask Marguerite about it",
    workspace=FilesSource(files=(File(path="web/secret/a.txt", content=b"project Zanzibar"),)),
    checks=(Footprint(wanted="pnpm"), Touched(paths=("docs/b.md",))),
    session="imported:0",
    turn=0,
    source="imported",
    project="/work/acme/site",
    cluster="s-0",
    split=Split.TRAIN,
    folder="web",
)


@pytest.mark.parametrize(
    ("rules", "by"),
    [
        (IgnoreList(words=("marguerite",)), "words"),
        (IgnoreList(words=("zanzibar",)), "words"),
        (IgnoreList(words=("PNPM",)), "words"),
        (IgnoreList(words=("b.md",)), "words"),
        (IgnoreList(paths=("web/secret/*",)), "paths"),
        (IgnoreList(paths=("/work/acme/site/docs/*",)), "paths"),
        (IgnoreList(paths=("/work/*/web",)), "paths"),
        (IgnoreList(projects=("site",)), "projects"),
        (IgnoreList(words=("footprint", "imported"), paths=("secret/*",), projects=("docs",)), None),
    ],
)
def test_a_task_from_a_file_is_left_out_as_a_session_is(rules: IgnoreList, by: str | None) -> None:
    """By its request, what its checks look for, its files and its project; not by our own names of kinds."""
    found = Ignoring(own=rules).task(TASK)
    assert found == (None if by is None else Why("ignored", f"by ignore.{by} of your list"))
    theirs = Ignoring(of_folder=lambda at: rules if at == TASK.project else IgnoreList()).task(TASK)
    assert (theirs is None) == (by is None)


def test_a_projects_own_list_speaks_of_its_own_sessions() -> None:
    """What a folder's file lists holds in that folder and below it, hides nothing of another one, and holds
    wherever a harvest is begun."""
    lists = {"/work/acme": IgnoreList(words=("zanzibar",))}
    rules = Ignoring(of_folder=lambda root: lists.get(root, IgnoreList()), root=str)
    for folder in ("/work/acme", "/work/acme/site/web"):
        inside = rules.session(replace(SESSION, project=folder))
        assert inside is not None
        assert not inside.by_person
    assert rules.session(replace(SESSION, project="/work/other")) is None
    assert rules.session(replace(SESSION, project="/work/acme2")) is None


def test_a_folders_own_list_speaks_of_the_sessions_that_began_in_it() -> None:
    """The lists from the root down to the folder all count, and none of a folder beside it."""
    lists = {"/work/mono/packages/a": IgnoreList(words=("zanzibar",))}
    rules = Ignoring(of_folder=lambda place: lists.get(place, IgnoreList()), root=lambda _: "/work/mono")
    for folder, left_out in (("packages/a", True), ("packages/a/src", True), ("packages/ab", False)):
        found = rules.session(replace(SESSION, project=f"/work/mono/{folder}"))
        assert (found is not None) == left_out, folder
    assert rules.session(replace(SESSION, project="/work/mono")) is None


def test_an_unreadable_list_of_a_project_leaves_its_sessions_out() -> None:
    """A list that cannot be read might have named them: nothing of that project is stored."""
    rules = Ignoring(of_folder=lambda _: "/work/x.toml is no TOML file")
    found = rules.session(SESSION)
    assert found is not None
    assert "no TOML file" in found.detail


def test_what_is_too_old_is_left_out_by_its_end() -> None:
    """The end of a session says how old it is, else its start, else its file; without any it is kept."""
    rules = Ignoring(oldest=AT + timedelta(days=1), days=30)
    bare = replace(SESSION, ended_at=None)
    assert rules.session(SESSION) is not None
    assert rules.session(replace(SESSION, ended_at=AT + timedelta(days=2))) is None
    assert rules.session(bare, changed=AT) is not None
    assert rules.session(bare) is None


@pytest.mark.parametrize(
    ("thing", "name"),
    [
        (Thing.SESSION, "claude-code:one"),
        (Thing.PROJECT, "/work/acme/site/web"),
        (Thing.PROJECT, "/work/acme"),
    ],
)
def test_what_was_forgotten_is_known_by_its_trace(thing: Thing, name: str) -> None:
    """A trace is enough to know a session again, or a project with all below it, and holds no letter of its
    name."""
    trace = trace_of(thing, name)
    assert name not in trace
    found = Ignoring(forgotten=frozenset({trace})).session(SESSION)
    assert found is not None
    assert found.reason == "forgotten"

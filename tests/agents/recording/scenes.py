"""What is played with each agent: what the person types, what the model does, and what was meant by it."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from agents.recording.hands import HELPER_PROMPT, PROJECT, SKILL, SKILL_TEXT, Hands
from agents.recording.terminal import Terminal
from nightschool.testing.model_server import ModelServer
from nightschool.testing.script import Act, Rule, Say, Script, Shell, Use, When, Write

_SETTLING_SECONDS = 1.0
_IMPATIENCE_SECONDS = 10
_WAIT = "tail -f /dev/null"


@dataclass(slots=True, kw_only=True)
class Stage:
    """The keyboard of one agent, at work in its project."""

    hands: Hands
    model: ModelServer
    terminal: Terminal = field(default_factory=lambda: Terminal(argv=()))

    @contextmanager
    def opened(self, *more: str) -> Iterator[None]:
        """The agent's screen, left at the end as a person leaves it."""
        hands = self.hands
        self.terminal = Terminal(argv=(hands.program, *hands.arguments, *more))
        self.terminal.open()
        if hands.trust and self.terminal.until(hands.ready, hands.trust) == hands.trust:
            self.terminal.press("Enter")
        self.terminal.until(hands.ready)
        self._settle()
        yield
        self.terminal.type(hands.leave)
        self.terminal.until_ended()
        self.terminal.close()

    def say(self, prompt: str, answer: str) -> None:
        """A prompt, leave for each command, and the whole answer."""
        self.terminal.type(prompt)
        self._let_do(answer)
        self._settle()

    def refuse(self, prompt: str, answer: str = "") -> None:
        """A prompt whose command is not allowed. `answer` is what the agent says to that, if anything."""
        assert self.hands.asks is not None
        self.terminal.type(prompt)
        self.terminal.until(self.hands.asks)
        self._settle()
        self.terminal.press(*self.hands.refuse)
        if answer:
            self.terminal.until(answer)
        self._settle()
        self._settle()

    def stop(self, prompt: str) -> None:
        """A prompt whose command is stopped while it runs."""
        self.terminal.type(prompt)
        self._until_waiting()
        self._settle()
        self.terminal.press(*self.hands.stop)
        self.terminal.until(self.hands.stopped)
        self._settle()

    def compact(self) -> None:
        self.terminal.type(self.hands.compact)
        self.terminal.until(self.hands.compacted)
        self._settle()

    def run(self, prompt: str) -> None:
        """Without a person, to its end."""
        argv = (self.hands.program, *self.hands.headless(prompt))
        subprocess.run(argv, check=True, stdin=subprocess.DEVNULL, capture_output=True, timeout=120)

    def run_and_interrupt(self, prompt: str) -> None:
        """Without a person, ended by SIGINT while a command runs."""
        argv = (self.hands.program, *self.hands.headless(prompt))
        with subprocess.Popen(argv, stdin=subprocess.DEVNULL, start_new_session=True) as process:
            self._until_waiting()
            self._settle()
            os.killpg(process.pid, signal.SIGINT)  # as Ctrl-C does
            try:
                process.wait(timeout=_IMPATIENCE_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()

    def _let_do(self, answer: str) -> None:
        asks = self.hands.asks
        while asks is not None and self.terminal.until(answer, asks) == asks:
            self._settle()
            self.terminal.press(*self.hands.allow)
            self._settle()
        self.terminal.until(answer)

    def _until_waiting(self) -> None:
        """Until the command that waits runs, after leave was given where it is asked for."""
        end = time.monotonic() + 60
        asks = "".join((self.hands.asks or "\0").split())
        while not _runs(_WAIT):
            if time.monotonic() > end:
                screen = self.terminal.screen if self.terminal.argv else ""
                raise TimeoutError(f"no {_WAIT} was started\n{screen}")
            if self.terminal.argv and asks in "".join(self.terminal.screen.split()):
                self.terminal.press(*self.hands.allow)
            self._settle()

    def _settle(self) -> None:
        time.sleep(_SETTLING_SECONDS)


def _runs(command: str) -> bool:
    return any(
        line.read_bytes().replace(b"\0", b" ").strip() == command.encode()
        for line in Path("/proc").glob("[0-9]*/cmdline")
        if line.exists()
    )


GREET = "Write greet.py that says hello."
TESTS = "Run the tests now."
POLITE = "No, the greeting must be polite. Use the greeting skill."
DELETE = "Delete the old backups."
BUILD = "Wait for the build."
BYE = "Leave that, and say goodbye."
HELP = "Let a helper count the files."
AGAIN = "Now say where we stopped."
OTHER = "Try it another way."
PROMPTS = (GREET, TESTS, POLITE, DELETE, BUILD, BYE, HELP, AGAIN, OTHER, HELPER_PROMPT)

_HELLO: tuple[Act, ...] = (
    Write(path=f"/home/sam/{PROJECT}/greet.py", content="print('hello')\n"),
    Shell(command="python3 greet.py"),
    Say(text="It says hello."),
)


def _asked(prompt: str) -> When:
    """That this was the last thing asked. Some put it in quotes, or behind a prompt that was not answered."""
    return When(prompt=re.escape(prompt) + r"\W*\Z")


_SCRIPT = (
    Rule(when=_asked(GREET), then=_HELLO),
    Rule(when=_asked(TESTS), then=(Shell(command="ls tests"), Say(text="There are no tests."))),
    Rule(when=_asked(DELETE), then=(Shell(command="rm -r backups"), Say(text="I left them."))),
    Rule(when=_asked(BUILD), then=(Shell(command=_WAIT), Say(text="It is built."))),
    Rule(when=_asked(BYE), then=(Say(text="Goodbye."),)),
    Rule(when=_asked(AGAIN), then=(Say(text="At the greeting."),)),
    Rule(when=_asked(OTHER), then=(Say(text="There is none."),)),
)


def script_for(hands: Hands) -> Script:
    """What the model does on each prompt, with this agent's own tools for skills and sub-agents."""
    tool, arguments = hands.tools.skill
    own = [Rule(when=_asked(POLITE), then=(_use(tool, arguments), Say(text="It is polite now.")))]
    if hands.tools.helper is not None:
        helped = (_use(*hands.tools.helper), Say(text="The helper found none."))
        own.append(Rule(when=_asked(HELP), then=helped))
        ends = Say(text="None.") if hands.tools.helper_ends is None else _use(*hands.tools.helper_ends)
        own.append(Rule(when=When(prompt=HELPER_PROMPT), then=(Shell(command="ls"), ends)))
    return Script(rules=(*own, *_SCRIPT), default=Say(text="A greeting was written."), aside="A greeting")


def _use(tool: str, arguments: Mapping[str, object]) -> Act:
    command = arguments.get("command")
    if tool == "shell":
        return Shell(command=str(command))
    return Use(tool=tool, arguments=dict(arguments))


def _work(stage: Stage) -> None:
    with stage.opened():
        stage.say(GREET, "It says hello.")
        stage.say(TESTS, "There are no tests.")
        stage.say(POLITE, "It is polite now.")


def _stopped(stage: Stage) -> None:
    with stage.opened():
        if stage.hands.asks is not None:
            stage.refuse(DELETE)
        stage.stop(BUILD)
        stage.say(BYE, "Goodbye.")


def _helped(stage: Stage) -> None:
    with stage.opened():
        stage.say(HELP, "The helper found none.")


def _compacted(stage: Stage) -> None:
    with stage.opened():
        stage.say(GREET, "It says hello.")
        stage.compact()
        stage.say(AGAIN, "At the greeting.")


def _resumed(stage: Stage) -> None:
    with stage.opened():
        stage.say(GREET, "It says hello.")
    with stage.opened(*stage.hands.resume):
        stage.say(AGAIN, "At the greeting.")
    if stage.hands.fork is not None:
        with stage.opened(*stage.hands.fork(Path.home())):
            stage.say(OTHER, "There is none.")


def _headless(stage: Stage) -> None:
    stage.run(GREET)
    stage.run_and_interrupt(BUILD)


SCENES: Mapping[str, Callable[[Stage], None]] = {
    "work": _work,
    "stopped": _stopped,
    "helped": _helped,
    "compacted": _compacted,
    "resumed": _resumed,
    "headless": _headless,
}


def scenes_of(hands: Hands) -> tuple[str, ...]:
    """All that this agent can play."""
    return tuple(name for name in SCENES if name != "helped" or hands.tools.helper is not None)


def play(hands: Hands, scene: str, home: Path) -> ModelServer:
    """Set the agent up in this HOME and play the scene. Gives the model with all that it was sent."""
    project = home / PROJECT
    skill = project / hands.skills / SKILL / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text(SKILL_TEXT, encoding="utf-8")
    os.chdir(project)
    os.environ["PWD"] = str(project)
    with ModelServer(script_for(hands)) as model:
        os.environ.update(hands.lay_out(home, model.url))
        SCENES[scene](Stage(hands=hands, model=model))
    return model

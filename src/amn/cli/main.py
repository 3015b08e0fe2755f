"""The command line: parses it, runs a verb, and turns every error into one line and an exit code."""

import contextlib
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from amn import __version__
from amn.cli.plain import run_plain
from amn.cli.verbs import GROUPS, VERBS
from amn.errors import AMNError, ConfigError

if TYPE_CHECKING:
    from cyclopts import App

SUCCESS, FAILURE, USAGE, INTERRUPTED = 0, 1, 2, 130

_HELP = "Answers questions about stories, reading only the memory banks that matter."
_EPILOGUE = "Every command takes --debug, which shows the traceback of an error."


def main(words: Sequence[str] | None = None) -> int:
    """Run a command line and return its exit code: 0 for success, 1 for failure, 2 for wrong usage."""
    line = list(sys.argv[1:] if words is None else words)
    try:
        code = _front()([word for word in line if word != "--debug"])
        sys.stdout.flush()
    except SystemExit as stop:  # --help of the plain front
        return stop.code if isinstance(stop.code, int) else SUCCESS
    except BaseException as error:
        if "--debug" in line:
            traceback.print_exc()
        return _explain(error)
    return code or SUCCESS


def _front() -> Callable[[list[str]], int | None]:
    try:
        import cyclopts  # noqa: F401 (it needs rich, so its spec alone would not tell whether it works)
    except ImportError:
        return run_plain
    return _run_cyclopts


def _explain(error: BaseException) -> int:
    """Print an error to standard error, and return its exit code."""
    if isinstance(error, BrokenPipeError):
        return _close_pipe()
    for kind, (code, template) in _OUTCOMES.items():
        if isinstance(error, kind):
            print(template.format(error=error, kind=type(error).__name__), file=sys.stderr)
            return code
    raise error


_OUTCOMES: dict[type[BaseException], tuple[int, str]] = {
    ConfigError: (USAGE, "amn: {error} (see --help)"),
    AMNError: (FAILURE, "amn: {error}"),
    KeyboardInterrupt: (INTERRUPTED, "amn: interrupted"),
    OSError: (FAILURE, "amn: {error}"),
    ImportError: (FAILURE, "amn: {error}; is it installed?"),
    Exception: (FAILURE, "amn: internal error, {kind}: {error}; --debug shows where"),
}


def _close_pipe() -> int:
    """The reader of our output is gone; what is still in the buffer must not fail again at exit."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return FAILURE


def _run_cyclopts(words: list[str]) -> int | None:
    from cyclopts import CycloptsError, UnusedCliTokensError

    try:
        line = ["/dev/stdin" if word == "-" else word for word in words]  # cyclopts takes a lone - for an option
        result = build_app()(line, exit_on_error=False, print_error=False, result_action="return_value")
    except UnusedCliTokensError as error:
        raise ConfigError(f"unexpected argument {' '.join(error.unused_tokens or ())}") from error
    except CycloptsError as error:
        raise ConfigError(str(error).rstrip(".")) from error
    return result if isinstance(result, int) else None


def build_app() -> "App":
    """The cyclopts application with all verbs; their modules are light, and import the rest when used."""
    from cyclopts import App, Parameter

    app = App(
        name="amn",
        help=_HELP,
        help_epilogue=_EPILOGUE,
        version=__version__,
        default_parameter=Parameter(negative=()),
        suppress_keyboard_interrupt=False,
    )
    groups = {name: App(name=name, help=text, help_epilogue="") for name, text in GROUPS.items()}
    for group in groups.values():
        app.command(group)
    for verb in VERBS:
        group_name, _, name = verb.name.rpartition(" ")
        groups.get(group_name, app).command(verb.function(), name=name)
    return app

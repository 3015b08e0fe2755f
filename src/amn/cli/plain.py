"""The command line without cyclopts, by argparse: a machine for training may have nothing but torch."""

import argparse
import inspect
import types
import typing
from collections.abc import Callable
from typing import Any, Literal, NoReturn, get_args, get_origin

from amn.cli.verbs import VERBS, find_verb
from amn.errors import ConfigError, did_you_mean

_HEADING = "Usage: python -m amn COMMAND [OPTIONS]\n\nCommands (for more: COMMAND --help):"


def run_plain(words: list[str]) -> int | None:
    """Run a command line."""
    if not words or words[0] in {"--help", "-h"}:
        helps = ((inspect.getdoc(verb.function()) or "").partition("\n")[0] for verb in VERBS)
        print("\n".join([_HEADING, *(f"  {verb.name:14} {text}" for verb, text in zip(VERBS, helps, strict=True))]))
        return None
    verb, rest = find_verb(words)
    function = verb.function()
    parser = parser_of(function, f"amn {verb.name}")
    values, unknown = parser.parse_known_args(rest)
    if unknown and not unknown[0].startswith("-"):
        raise ConfigError(f"unexpected argument {' '.join(unknown)}")
    if unknown:
        options = [option for action in parser._actions for option in action.option_strings]
        raise ConfigError(f"unknown option {unknown[0]}: {did_you_mean(unknown[0], options)}")
    return call(function, vars(values))


class _Parser(argparse.ArgumentParser):
    """Raises where argparse would print and exit."""

    def error(self, message: str) -> NoReturn:
        raise ConfigError(message)


def parser_of(function: Callable[..., Any], name: str) -> argparse.ArgumentParser:
    """An argument parser for the parameters of a verb."""
    parser = _Parser(
        prog=name,
        description=inspect.getdoc(function),
        allow_abbrev=False,
        argument_default=argparse.SUPPRESS,  # what is not given has the default of the function
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    hints = typing.get_type_hints(function)
    for parameter in inspect.signature(function).parameters.values():
        _add(parser, parameter, hints[parameter.name])
    return parser


def call(function: Callable[..., int | None], values: dict[str, Any]) -> int | None:
    """Call a verb with parsed values: in order for its arguments, by name for its options."""
    bound = inspect.signature(function).bind_partial()
    bound.arguments.update({name: tuple(one) if isinstance(one, list) else one for name, one in values.items()})
    return function(*bound.args, **bound.kwargs)


def _add(parser: argparse.ArgumentParser, parameter: inspect.Parameter, hint: Any) -> None:
    kind, many = _kind(hint)
    required = parameter.default is parameter.empty
    options: dict[str, Any] = {"choices": get_args(kind)} if get_origin(kind) is Literal else {"type": kind}
    if parameter.kind is parameter.VAR_POSITIONAL:
        parser.add_argument(parameter.name, nargs="*", **options)
    elif parameter.kind is not parameter.KEYWORD_ONLY:
        parser.add_argument(parameter.name, nargs=None if required else "?", **options)
    else:
        flag = "--" + parameter.name.strip("_").replace("_", "-")
        options = {"action": "store_true"} if kind is bool else {"action": "append" if many else "store", **options}
        parser.add_argument(flag, dest=parameter.name, required=required, **options)


def _kind(hint: Any) -> tuple[Any, bool]:
    """The type of a value of a parameter, and whether it takes several."""
    if get_origin(hint) in {types.UnionType, typing.Union}:
        inner = [member for member in get_args(hint) if member is not type(None)]
        return _kind(inner[0])
    if get_origin(hint) in {tuple, list}:
        return get_args(hint)[0], True
    return hint, False

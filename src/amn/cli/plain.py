"""The same verbs by the standard library alone, for machines without cyclopts: argparse made from signatures."""

import argparse
import inspect
import types
import typing
from collections.abc import Callable
from typing import Any, Literal, NoReturn, get_args, get_origin

from amn.cli.verbs import VERBS, find_verb
from amn.errors import ConfigError, did_you_mean

_HEADING = "Usage: python -m amn VERB [OPTIONS]\n\nVerbs (VERB --help says more):"


def run_plain(words: list[str]) -> int | None:
    """Run the verb that a command line names."""
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
    """Raises where argparse would print and exit, so that every front ends in the same way."""

    def error(self, message: str) -> NoReturn:
        raise ConfigError(message)


def parser_of(function: Callable[..., Any], name: str) -> argparse.ArgumentParser:
    """An argument parser with the parameters of a verb."""
    parser = _Parser(
        prog=name,
        description=inspect.getdoc(function),
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    hints = typing.get_type_hints(function)
    for parameter in inspect.signature(function).parameters.values():
        _add(parser, parameter, hints[parameter.name])
    return parser


def call(function: Callable[..., int | None], values: dict[str, Any]) -> int | None:
    """Call a verb with parsed values: in order for its arguments, by name for its options."""
    bound = inspect.signature(function).bind_partial()
    bound.arguments.update(values)
    return function(*bound.args, **bound.kwargs)


def _add(parser: argparse.ArgumentParser, parameter: inspect.Parameter, hint: Any) -> None:
    kind, many = _kind(hint)
    many = many or parameter.kind is parameter.VAR_POSITIONAL
    required = parameter.default is parameter.empty
    options: dict[str, Any] = {"default": None if required else parameter.default}
    if get_origin(kind) is Literal:
        options |= {"choices": get_args(kind)}
    elif kind is not bool:
        options |= {"type": kind}
    if parameter.kind is not parameter.KEYWORD_ONLY:
        parser.add_argument(parameter.name, nargs="*" if many else None if required else "?", **options)
        return
    flag = "--" + parameter.name.strip("_").replace("_", "-")
    if kind is bool:
        parser.add_argument(flag, action="store_true", dest=parameter.name)
    else:
        action = _Append if many else "store"
        parser.add_argument(flag, action=action, dest=parameter.name, required=required, **options)


class _Append(argparse.Action):
    """Collects the values of an option that may be given several times; argparse would add to the default."""

    def __call__(self, _parser: object, namespace: argparse.Namespace, values: Any, _option: object = None) -> None:
        held = getattr(namespace, self.dest)
        setattr(namespace, self.dest, (values,) if held is self.default else (*held, values))


def _kind(hint: Any) -> tuple[Any, bool]:
    """The type of one value of a parameter, and whether it takes several."""
    if get_origin(hint) in {types.UnionType, typing.Union}:
        inner = [member for member in get_args(hint) if member is not type(None)]
        return _kind(inner[0])
    if get_origin(hint) in {tuple, list}:
        return get_args(hint)[0], True
    return hint, False

"""Text files that may be huge, broken or cut short: reading in bounded memory, and writing all or nothing."""

import gzip
import os
import secrets
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import IO, Literal, TextIO

from amn.errors import DataError, SupportError

MAX_KEPT_ERRORS = 1000  # a file of nothing but bad lines must not fill the memory with their errors
SHOWN_CHARACTERS = 60  # of a bad line, in an error message
PART = ".part"  # ends the names of files that are being written
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")  # how files in it begin


@dataclass(slots=True)
class BadLines:
    """What a reader skipped: give one to a reader and it goes on where it would otherwise raise."""

    errors: list[DataError] = field(default_factory=list)  # the first errors met, at most `MAX_KEPT_ERRORS` of them
    count: int = 0  # all errors met, which is the number of lines skipped
    lost_support: int = 0  # how many of them name a supporting fact that points nowhere

    def add(self, error: DataError) -> None:
        """Count a bad line and keep its error while there is room."""
        self.count += 1
        self.lost_support += isinstance(error, SupportError)
        if len(self.errors) < MAX_KEPT_ERRORS:
            self.errors.append(error)


def refuse(error: DataError, skip_bad: BadLines | None) -> None:
    """Raise the error, or note it where the caller wants to go on."""
    if skip_bad is None:
        raise error
    skip_bad.add(error)


def shown(text: str | bytes) -> str:
    """A piece of the file as an error message shows it: quoted, and cut where it is long."""
    if isinstance(text, bytes):
        text = text[: 4 * SHOWN_CHARACTERS].decode("utf-8", errors="backslashreplace")
    return repr(text) if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]!r}..."


STANDARD_INPUT = (Path("-"), Path("/dev/stdin"))  # the second is how the command line passes on the first


@contextmanager
def opened(path: Path) -> Iterator[IO[bytes]]:
    """Open a data file for reading; what the system refuses becomes a DataError. `-` is standard input."""
    if path in STANDARD_INPUT:
        yield sys.stdin.buffer
        return
    try:
        stream = path.open("rb")
    except OSError as error:
        raise DataError(path, None, "a file that can be read", _refusal(path, error)) from error
    with stream:
        if path.suffix != ".gz":
            yield stream
            return
        try:
            with gzip.open(stream) as unpacked:
                yield unpacked  # type: ignore[misc]
        except (gzip.BadGzipFile, EOFError) as error:
            raise DataError(path, None, "a whole gzip file", str(error)) from error


def _refusal(path: Path, error: OSError) -> str:
    """Why a file cannot be opened; for a missing one, with the most similar name in the folder."""
    reason = error.strerror or str(error)
    if not isinstance(error, FileNotFoundError):
        return reason
    if not path.parent.is_dir():
        return f"{reason} (there is no folder {path.parent})"
    near = get_close_matches(path.name, [entry.name for entry in path.parent.iterdir()], n=1)
    return f"{reason}; did you mean {path.parent / near[0]}?" if near else reason


def numbered_lines(
    path: Path, *, limit: int, skip_bad: BadLines | None = None, whole: bool = False
) -> Iterator[tuple[int, str]]:
    """The lines of a UTF-8 file with their 1-based numbers, without their line ends, one at a time.

    Of a line with more bytes than `limit` no more than that is ever held. Lines that cannot be read are noted in
    `skip_bad`, or raise. Where `whole`, a last line without a line end is refused, as a file that was cut short.
    """
    with opened(path) as stream:
        number = 0
        while raw := stream.readline(limit + 1):
            number += 1
            if number == 1:
                raw = raw.removeprefix(_BYTE_ORDER_MARK)
            try:
                line = _line(path, number, raw, limit, whole)
            except DataError as error:
                refuse(error, skip_bad)
                while raw and not raw.endswith(b"\n"):  # the rest of it
                    raw = stream.readline(limit)
            else:
                yield number, line


def _line(path: Path, number: int, raw: bytes, limit: int, whole: bool) -> str:
    if not raw.endswith(b"\n"):
        if len(raw) > limit:
            raise DataError(path, number, f"at most {limit} bytes in a line", f"a longer one, {shown(raw)}")
        if whole:
            raise DataError(path, number, "a line end after the last line", f"a file cut short after {shown(raw)}")
    try:
        return raw.decode().rstrip("\r\n")
    except UnicodeDecodeError as error:
        found = f"byte 0x{raw[error.start]:02x} in {shown(raw)}{_recoded(path, raw)}"
        raise DataError(path, number, "UTF-8 text", found) from error


def _recoded(path: Path, raw: bytes) -> str:
    """What to do about a line that is no UTF-8."""
    if b"\0" in raw and raw[:2] not in _UTF_16:
        return "; it is no text: export it as .csv or .jsonl"
    coding = "UTF-16" if raw[:2] in _UTF_16 else "WINDOWS-1252"
    name = shlex.quote(str(path)), shlex.quote(f"utf8-{path.name}")
    return f"; if it is {coding}: iconv -f {coding} -t UTF-8 {name[0]} > {name[1]}" if path.is_file() else ""


@contextmanager
def written(target: Path | TextIO) -> Iterator[TextIO]:
    """A stream to write text to: the one given, or a file that appears under its name only when all went well."""
    if not isinstance(target, Path):
        yield target
    elif target.exists() and not target.is_file():  # a device or a pipe cannot be replaced by a finished file
        with _creating(target, "w") as stream:
            yield stream
    else:
        with replaced(target.resolve()) as part, _creating(part, "x") as stream:
            yield stream


@contextmanager
def replaced(path: Path) -> Iterator[Path]:
    """A new file to write to, which gets the path's name once its bytes are on disk: a reader finds old or new."""
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}{PART}")
    try:
        yield part
        _flush(part)
        os.replace(part, path)
        flush_folder(path.parent)
    finally:
        remove(part)


def _flush(path: Path) -> None:
    with path.open("rb+") as file:
        os.fsync(file.fileno())


def flush_folder(folder: Path) -> None:
    """Flushes a folder, so that a new name in it survives a power loss."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def make_folder(folder: Path) -> None:
    """Makes a folder and its parents, which survive a power loss."""
    missing = [one for one in (folder, *folder.parents) if not one.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    for one in missing:
        flush_folder(one.parent)


def remove(path: Path) -> None:
    """Removes a file if it can be: where a folder lost its write permission, another error is already on its way."""
    with suppress(OSError):
        path.unlink(missing_ok=True)


def _creating(path: Path, mode: Literal["w", "x"]) -> TextIO:
    try:
        return open(path, mode, encoding="utf-8", newline="\n")
    except OSError as error:
        raise DataError(path, None, "a place that can be written to", error.strerror or str(error)) from error

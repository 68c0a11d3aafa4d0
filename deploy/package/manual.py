"""Man pages out of what the program says of itself (`freshet --experimental-dump-help`): one for the program, one for each verb.

    manual.py DUMP.json FOLDER --date 2026-11-26 --version 0.2.0
"""

import argparse
import json
import pathlib
import re
import textwrap


def escaped(text: str) -> str:
    """Text as roff has it: backslashes and hyphens as they are, no line that begins with a request."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^([.'])", r"\\&\1", text, flags=re.MULTILINE)


def discussion(text: str) -> list[str]:
    """Paragraphs; lines that are indented stay as they are, for they are commands."""
    lines = []
    if not text:
        return lines
    for part in re.split(r"\n\s*\n", textwrap.dedent(text).strip("\n")):
        lines.append(".PP")
        is_code = part.startswith("  ") or part.startswith("freshet ")
        lines += [".EX", escaped(part), ".EE"] if is_code else [escaped(part)]
    return lines


def spelled(argument: dict) -> str:
    """`-c, --config <config>`."""
    value = f" \\fI{escaped(argument.get('valueName', 'value'))}\\fR" if argument["kind"] == "option" else ""
    dashes = {"short": "-", "long": "--", "longWithSingleDash": "-"}
    names = [f"\\fB{escaped(dashes[name['kind']] + name['name'])}\\fR{value}" for name in argument.get("names", [])]
    return ", ".join(names) or f"\\fI{escaped(argument['valueName'])}\\fR"


def shown(arguments: list[dict]) -> list[dict]:
    return [argument for argument in arguments if argument.get("shouldDisplay", True)]


def usage(argument: dict) -> str:
    text = spelled({**argument, "names": [argument["preferredName"]]} if "preferredName" in argument else argument)
    if argument.get("isRepeating"):
        text += " ..."
    return f"[{text}]" if argument.get("isOptional") else text


def arguments(command: dict) -> list[str]:
    lines = []
    for argument in shown(command.get("arguments", [])):
        lines += [".TP", spelled(argument)]
        about = " ".join(filter(None, [argument.get("abstract"), argument.get("discussion")]))
        if "allValues" in argument:
            about += f" One of {', '.join(argument['allValues'])}."
        if argument.get("defaultValue"):
            about += f" Default {argument['defaultValue']}."
        lines.append(escaped(about) or "\\&")
    return lines


def page(names: list[str], command: dict, date: str, version: str) -> str:
    title = "-".join(names)
    lines = [f'.TH "{escaped(title.upper())}" 1 "{date}" "freshet {version}" "Freshet"', ".SH NAME",
             f"{escaped(title)} \\- {escaped(command.get('abstract', '').rstrip('.'))}", ".SH SYNOPSIS"]
    below = [each for each in command.get("subcommands", []) if each.get("shouldDisplay", True) and each["commandName"] != "help"]
    own = [each for each in shown(command.get("arguments", [])) if each.get("valueName") not in ("help", "version")]
    words = [usage(argument) for argument in own]
    lines.append(" ".join([f"\\fB{escaped(' '.join(names))}\\fR", *words, *(["\\fIverb\\fR"] if below else [])]))
    if command.get("discussion"):
        lines += [".SH DESCRIPTION", *discussion(command["discussion"])]
    if shown(command.get("arguments", [])):
        lines += [".SH OPTIONS", *arguments(command)]
    if below:
        lines.append(".SH VERBS")
        for each in below:
            lines += [".TP", f"\\fB{escaped(each['commandName'])}\\fR", escaped(each.get("abstract", ""))]
            # Verbs of a verb have no pages of their own.
            if len(names) > 1:
                lines += [".RS", *discussion(each.get("discussion") or ""), *arguments(each), ".RE"]
    others = "the pages of the verbs, freshet\\-init(1) for one" if len(names) == 1 else "freshet(1)"
    lines += [".SH SEE ALSO", f"{others}; /usr/share/doc/freshet"]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dump", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--date", required=True)
    parser.add_argument("--version", required=True)
    told = parser.parse_args()
    told.folder.mkdir(parents=True, exist_ok=True)
    program = json.loads(told.dump.read_text())["command"]
    pages = [(["freshet"], program)]
    pages += [(["freshet", verb["commandName"]], verb) for verb in program["subcommands"] if verb["commandName"] != "help"]
    for names, command in pages:
        (told.folder / f"{'-'.join(names)}.1").write_text(page(names, command, told.date, told.version))


if __name__ == "__main__":
    main()

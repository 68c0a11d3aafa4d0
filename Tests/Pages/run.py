"""Goes through a page as a newcomer does, command by command, and stops at the first that fails, with its line.

    run.py --program .build/debug/freshet docs/guides/patterns.md

What counts of a page are its fenced blocks, by the words behind the fence:

    sh              commands
    text            what they print: lines that have to come, in which … stands for anything
    console         both: commands begin with `$ ` and go on in indented lines, all else is printed
    yaml name       a file of that name; it is there before the first command (any other language, too)

The page has a network and processes of its own, so that its ports are those that it says, a hosts file and trusted
certificates that it may write, and an empty folder with the repository's `docs` in it. What it leaves running ends with it. For curl a status of 400 and
above is a failure, and a gateway that does not listen yet is waited for.
"""

import argparse
import fcntl
import os
import pathlib
import shlex
import shutil
import socket
import struct
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
CURL = "silent\nfail-with-body\nshow-error\nretry = 600\nretry-delay = 1\nretry-connrefused\nmax-time = 3600\n"


# The beginning of a page's script: `mark` says that a command begins, `expect` waits until the expected lines have
# come.
PROLOGUE = r"""
set -eo pipefail
trap 'echo "$PAGE:$LINENO: this failed: $BASH_COMMAND" >&2' ERR
mark() { begun=$(stat -c %s "$OUTPUT"); }
expect() {
    local tries rest part
    for ((tries = 0; tries < SECONDS_MAX * 10; tries++)); do
        rest=$(tail -c "+$((begun + 1))" "$OUTPUT" | tr -d '\0')
        for part in "$@"; do
            if [[ $rest != *"$part"* ]]; then sleep 0.1; continue 2; fi
            rest=${rest#*"$part"}
        done
        return 0
    done
    echo "never printed: $*" >&2
    return 1
}
"""


class Page:
    """A page as a script whose commands stand in the page's own lines."""

    def __init__(self, path: pathlib.Path) -> None:
        self.path = path
        self.lines: list[str] = []
        self.files: dict[str, list[str]] = {}
        block: list[str] | None = None
        is_command = False
        for line in path.read_text().splitlines():
            command = ""
            if line.startswith("```"):
                block = None if block is not None else (line[3:].split() or ["plain"])
                # A line that is no command, so that the block's first one stays in its line.
                command = "mark" if block == ["sh"] else ""
            elif block is None:
                pass
            elif len(block) > 1:
                self.files.setdefault(block[1], []).append(line)
            elif block[0] == "sh":
                command = line
            elif block[0] == "console":
                is_command = line.startswith("$ ") or (is_command and line.startswith("    "))
                if not is_command:
                    command = self.expectation(line)
                else:
                    command = "mark; " + line[2:] if line.startswith("$ ") else line
            elif block[0] == "text":
                command = self.expectation(line)
            self.lines.append(command)

    @staticmethod
    def expectation(line: str) -> str:
        """The command that waits until a line was printed."""
        parts = [shlex.quote(part.strip()) for part in line.split("…")]
        return f"expect {' '.join(parts)}" if line else ""

    def script(self) -> str:
        # The first line of a page is its heading, so that there is room for the prologue.
        return "\n".join(['. "$PROLOGUE"'] + self.lines[1:]) + "\n"


def raise_loopback() -> None:
    """A new network's loopback interface is down."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        request = struct.pack("16sH14x", b"lo", 0x1)  # IFF_UP
        fcntl.ioctl(any_socket, 0x8914, request)  # SIOCSIFFLAGS


def run(page: Page, program: pathlib.Path, seconds: int) -> int:
    """Runs a page in namespaces that this process has been started in."""
    raise_loopback()
    with tempfile.TemporaryDirectory(prefix="freshet-page-", ignore_cleanup_errors=True) as place:
        folder, own = pathlib.Path(place, "newcomer"), pathlib.Path(place, "own")
        for made in (folder, own):
            made.mkdir(parents=True)
        shutil.copy("/etc/hosts", own / "hosts")
        shutil.copytree("/etc/ssl/certs", own / "trusted", symlinks=True)
        (own / "authorities").mkdir()
        for name, there in {"hosts": "/etc/hosts", "trusted": "/etc/ssl/certs",
                            "authorities": "/usr/local/share/ca-certificates"}.items():
            subprocess.run(["mount", "--bind", own / name, there], check=True)
        (own / ".curlrc").write_text(CURL)
        (folder / "docs").symlink_to(ROOT / "docs")
        for name, lines in page.files.items():
            (folder / name).write_text("\n".join(lines) + "\n")
        (own / "page.sh").write_text(page.script())
        (own / "prologue.sh").write_text(PROLOGUE)
        path = [str(program.parent), str(ROOT / ".venv/bin"), os.environ["PATH"]]
        environment = os.environ | {
            "PATH": ":".join(path), "CURL_HOME": str(own), "HOME": str(own), "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONUNBUFFERED": "1", "PAGE": page.path.name, "SECONDS_MAX": str(seconds), "OUTPUT": str(own / "output"),
            "PROLOGUE": str(own / "prologue.sh"), "GOCACHE": str(ROOT / ".build/go-cache"), "GOFLAGS": "-mod=mod",
        }
        with open(own / "output", "a+") as output:
            status = subprocess.run(
                ["timeout", "3600", "bash", str(own / "page.sh")], cwd=folder, env=environment,
                stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, check=False,
            ).returncode
            output.seek(0)
            if status:
                print(output.read())
        return status


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=pathlib.Path, required=True, help="the program freshet")
    parser.add_argument("--inside", action="store_true", help="this process is in namespaces of its own already")
    parser.add_argument("--seconds", type=int, default=600, help="the longest wait for what a command prints")
    parser.add_argument("page", type=pathlib.Path)
    told = parser.parse_args()
    if told.inside:
        sys.exit(run(Page(told.page.resolve()), told.program.resolve(), told.seconds))
    # A user other than root is root in a namespace of its own, if the system allows one.
    user = [] if os.geteuid() == 0 else ["--map-root-user"]
    namespaces = ["unshare", *user, "--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"]
    command = [*namespaces, sys.executable, __file__, "--inside", *sys.argv[1:]]
    # In this process's place, so that its end is the end of all that the page has started.
    os.execvp(command[0], command)


if __name__ == "__main__":
    main()

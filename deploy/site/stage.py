"""Copies the pages to a folder from which MkDocs makes the site.

    stage.py .build/site-pages

The folder looks like the repository, so that a link that works on GitHub works in the site. A source that a page links to
becomes a page with its text, and a folder one with its files. OpenAPI documents become pages, too.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

import openapi
import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
# An OpenAPI document by its path, and the heading of its page.
DOCUMENTS = {"docs/openapi.yaml": "Every route", "docs/timeline-providers.yaml": "Timeline providers"}
# Shown as they are.
MEDIA = {".png", ".svg"}
LANGUAGES = {".h": "c", ".mjs": "js", ".py": "python", ".sh": "bash", ".yml": "yaml"}
FENCE = re.compile(r"^( *)```(\S+) (\S+)$")
LINK = re.compile(r"(\]\()([^)\s#]+)((?:#[^)\s]*)?\))")


def tracked() -> list[str]:
    """The repository's files: those of git, and without it all that are there."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()


class Stage:
    def __init__(self, folder: pathlib.Path) -> None:
        self.folder = folder
        self.files = set(tracked())
        self.folders = {str(parent) for file in self.files for parent in pathlib.PurePath(file).parents}
        self.linked: set[str] = set()

    def write(self, path: str, text: str) -> None:
        place = self.folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)

    def target(self, page: str, link: str) -> str:
        """Where a link leads to in the site."""
        if re.match(r"[a-z]+:", link):
            return link
        path = os.path.normpath(os.path.join(os.path.dirname(page), link))
        if path in DOCUMENTS:
            place = path.removesuffix(".yaml") + ".md"
        elif path in self.folders:
            place = f"{path}/README.md"
        elif path not in self.files or path.endswith(".md"):
            # MkDocs says which of these there are not.
            return link
        elif pathlib.PurePath(path).suffix in MEDIA:
            return link
        else:
            place = f"{path}.md"
        self.linked.add(path)
        return os.path.relpath(place, os.path.dirname(page) or ".")

    def page(self, path: str) -> None:
        """A page of the repository: links lead to what the site has, and a block that is a file has its name above it."""
        is_code = False
        lines = []
        for line in (ROOT / path).read_text().split("\n"):
            if line.lstrip().startswith("```"):
                is_code = not is_code
                line = FENCE.sub(r'\1```\2 title="\3"', line)
            elif not is_code:
                parts = line.split("`")
                parts[::2] = [
                    LINK.sub(lambda found: found[1] + self.target(path, found[2]) + found[3], part)
                    for part in parts[::2]
                ]
                # A link whose text is code has its end behind the code, which is every second part as well.
                line = "`".join(parts)
            lines.append(line)
        self.write(path, "\n".join(lines))

    def document(self, path: str, title: str) -> None:
        """An OpenAPI document as a page, and the document itself."""
        shutil.copy(ROOT / path, self.folder / path)
        tree = yaml.safe_load((ROOT / path).read_text())
        text = openapi.Document(tree).page(title, pathlib.PurePath(path).name)
        self.write(path.removesuffix(".yaml") + ".md", text)

    def source(self, path: str) -> None:
        """A source as a page. It is not searched: what is looked for is what pages say."""
        suffix = pathlib.PurePath(path).suffix
        text = (ROOT / path).read_text().rstrip("\n")
        language = LANGUAGES.get(suffix, suffix.removeprefix(".")) or "text"
        fence = f'````{language} linenums="1"\n{text}\n````\n'
        self.write(f"{path}.md", f"---\nsearch:\n  exclude: true\n---\n\n# {path}\n\n{fence}")

    def contents(self, folder: str) -> None:
        """A folder without a page of its own as a list of its files."""
        inside = sorted(file for file in self.files if file.startswith(folder + "/") and not file.endswith(".md"))
        self.linked.update(inside)
        rows = [f"- [{file.removeprefix(folder + '/')}]({file.removeprefix(folder + '/')}.md)" for file in inside]
        self.write(f"{folder}/README.md", f"---\nsearch:\n  exclude: true\n---\n\n# {folder}\n\n" + "\n".join(rows) + "\n")

    def run(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        pages = [
            file for file in self.files
            if file.endswith(".md") and ("/" not in file or file.split("/")[0] in {"certs-example", "deploy", "docs"})
        ]
        for path in pages:
            self.page(path)
        for path in self.files:
            if path.startswith("docs/") and pathlib.PurePath(path).suffix in MEDIA:
                (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / path, self.folder / path)
        for path, title in DOCUMENTS.items():
            self.document(path, title)
        for folder in sorted(self.linked & self.folders):
            if not (self.folder / folder / "README.md").exists():
                self.contents(folder)
        for path in sorted((self.linked & self.files) - set(DOCUMENTS)):
            self.source(path)
        # MkDocs reads its configuration's paths from where the file is.
        shutil.copy(ROOT / "deploy/site/mkdocs.yml", self.folder.parent / "site-pages.yml")
        shutil.copy(ROOT / "deploy/site/site.css", self.folder / "site.css")


if __name__ == "__main__":
    Stage(pathlib.Path(sys.argv[1]).resolve()).run()

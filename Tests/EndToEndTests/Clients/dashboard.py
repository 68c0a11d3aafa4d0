"""Drives the dashboard page in Chromium without a window.

    dashboard.py --url https://localhost:9443 --shots folder tour now budget instances/host-1:scores-0
    dashboard.py --url … numbers | texts now system | dry-run APP PATTERN | locked WRONG RIGHT | arrival | tables | away

Everything it learns is one line of JSON each on standard output; the tests say what it has to be. Waits are for conditions
of the page. `away` says `lose` when the gateway may go, and `return` when it may come back.
"""

import argparse
import importlib.resources
import json
import pathlib
import tempfile

from browser import Browser

TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]

# What the keyboard should come to, in this order.
TABBABLE = """[...document.querySelectorAll('a[href], button, input, select, textarea, summary, [tabindex="0"]')]
  .filter((one) => !one.disabled && one.checkVisibility({visibilityProperty: true}) && one.tabIndex >= 0)"""

FOCUSED = f"""(() => {{
  const all = {TABBABLE};
  const active = document.activeElement;
  const style = getComputedStyle(active);
  return {{ place: all.indexOf(active), count: all.length, what: active.outerHTML.slice(0, 120),
    isSeen: style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2 }};
}})()"""

# Where the page is scrolled to, what has the focus, and what lies over the brand.
PAGE = """(() => { const brand = document.querySelector('.brand span').getBoundingClientRect();
  return { scrolled: [scrollX, scrollY], focused: document.activeElement.outerHTML.slice(0, 80),
    over: document.elementsFromPoint(brand.x + 3, brand.y + 3).map((one) => one.outerHTML.slice(0, 80)) }; })()"""

SPLIT = """Object.fromEntries([...document.querySelectorAll('main [data-outcome]')].map((one) =>
  [one.dataset.outcome, Number(one.querySelector('[data-count]').dataset.count)]))"""


def say(**line: object) -> None:
    print(json.dumps(line), flush=True)


class Dashboard(Browser):
    """The page in a browser."""

    sizes = {"wide": (1360, 860, 1), "phone": (390, 844, 2)}

    def view(self, place: str, again: bool = True) -> None:
        """Goes to a view and waits until it has shown what the gateway says; twice, since the second time changes what is there."""
        self.ask(f"void (location.hash = {json.dumps('#/' + place)})")
        name = place.split("/")[0]
        self.wait(f"document.getElementById('main').dataset.shown === {json.dumps(name)}")
        if not again:
            return
        shows = self.ask("Number(document.getElementById('main').dataset.shows)")
        self.wait(f"Number(document.getElementById('main').dataset.shows) > {shows}")

    def picture(self, file: pathlib.Path, size: str, scheme: str) -> None:
        """The whole page, as long as it is."""
        width, height, scale = self.sizes[size]
        whole = min(max(height, int(self.ask("document.documentElement.scrollHeight"))), 4000)
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=whole, deviceScaleFactor=scale, mobile=size == "phone")
        self.wait_for_drawing()
        self.keep_picture(file)
        self.show(size, scheme)

    def wait_for_drawing(self) -> None:
        """Until what was changed so far is on the screen."""
        self.ask("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def press(self, key: str, code: int, text: str = "") -> None:
        for kind in ("keyDown", "keyUp"):
            typed = {"text": text} if text and kind == "keyDown" else {}
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code, **typed)

    def type(self, text: str) -> None:
        self.call("Input.insertText", text=text)

    def complaints(self) -> list[str]:
        """What the page threw, and what it or the browser logged as an error or a warning."""
        found = []
        for event in self.events:
            parameters = event["params"]
            if event["method"] == "Runtime.exceptionThrown":
                found.append(json.dumps(parameters["exceptionDetails"])[:600])
            elif event["method"] == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "warning", "assert"):
                found.append(json.dumps(parameters["args"])[:600])
            elif event["method"] == "Log.entryAdded" and parameters["entry"]["level"] in ("error", "warning"):
                entry = parameters["entry"]
                found.append(f"{entry['source']}: {entry['text']} {entry.get('url', '')}")
        return found

    def axe(self) -> dict:
        """What axe-core finds wrong, and of how many texts it computed the contrast. Looks at the page as it is before anybody
        uses it: a focused skip link lies over the brand. What it could not compute, since the page was being drawn, it is asked
        again; if it never can, it is told what lies there."""
        for _ in range(10):
            self.ask("void (document.activeElement.blur(), scrollTo(0, 0))")
            self.wait_for_drawing()
            found = self.axe_once()
            if not any("could not be determined" in text for text in found["violations"]):
                return found
        found["violations"].append(f"the page then: {json.dumps(self.ask(PAGE))}")
        return found

    def axe_once(self) -> dict:
        if self.ask("typeof window.axe") != "object":
            script = importlib.resources.files("axe_core_python").joinpath("axe.min.js").read_text()
            self.call("Runtime.evaluate", expression=script)
        options = json.dumps({"runOnly": TAGS, "preload": False, "resultTypes": ["violations", "passes", "incomplete"]})
        return self.ask(f"""axe.run(document, {options}).then((found) => ({{
          violations: [...found.violations, ...found.incomplete.filter((one) => one.id === 'color-contrast')].map((one) => one.id + ': ' + one.nodes.slice(0, 4).map((node) => node.html.slice(0, 160)
            + ' ' + (node.any[0]?.message ?? node.all[0]?.message ?? node.none[0]?.message ?? '')).join(' | ')),
          contrasts: found.passes.find((one) => one.id === 'color-contrast')?.nodes.length ?? 0 }}))""")

    def be_hidden(self, is_hidden: bool) -> None:
        """As if somebody had gone to another tab: the page asks nothing, and what it shows stays as it is."""
        self.ask(f"void (Object.defineProperty(document, 'hidden', {{value: {json.dumps(is_hidden)}, configurable: true}}),"
                 " document.dispatchEvent(new Event('visibilitychange')))")

    def walk(self) -> dict:
        """Presses Tab until the page is left: the places that got the focus, and those where one cannot see it."""
        self.be_hidden(True)
        self.ask("void (document.activeElement.blur(), scrollTo(0, 0), getSelection().removeAllRanges())")
        # From the start of the document, wherever the focus was before.
        self.ask("void (document.body.tabIndex = -1, document.body.focus(), document.body.removeAttribute('tabindex'))")
        places, unseen, count = [], [], 1
        while len(places) < count + 3:
            self.press("Tab", 9)
            now = self.ask(FOCUSED)
            count = now["count"]
            if now["place"] < 0:
                break
            places.append(now["place"])
            if not now["isSeen"]:
                unseen.append(now["what"])
        self.be_hidden(False)
        return {"isInOrder": places[:count] == list(range(count)), "count": count, "places": places, "unseen": unseen}


def tour(page: Dashboard, options: argparse.Namespace) -> None:
    for size in page.sizes:
        for scheme in ("light", "dark"):
            page.show(size, scheme)
            for place in options.rest:
                page.view(place, again=(size, scheme) == ("wide", "light"))
                name = place.replace("/", "-").replace(":", "-").replace("%3A", "-")
                if options.shots:
                    page.picture(options.shots / f"{name}-{size}-{scheme}.png", size, scheme)
                found = page.axe()
                line = {"view": place, "size": size, "scheme": scheme, "violations": found["violations"], "contrasts": found["contrasts"],
                        "overflow": page.ask("document.documentElement.scrollWidth - document.documentElement.clientWidth")}
                if scheme == "light":
                    line["focus"] = page.walk()
                say(**line)


def numbers(page: Dashboard, options: argparse.Namespace) -> None:
    page.view("now")
    say(matched=page.ask("Number(document.getElementById('matched').dataset.count)"), outcomes=page.ask(SPLIT))
    for identifier in options.rest:
        page.view(f"pushes/{identifier}")
        say(push=identifier, matched=page.ask("Number(document.getElementById('matched').dataset.count)"), outcomes=page.ask(SPLIT))


def texts(page: Dashboard, options: argparse.Namespace) -> None:
    for place in options.rest:
        page.view(place)
        say(view=place, text=page.ask("document.getElementById('main').innerText"), violations=page.axe()["violations"])


def dry_run(page: Dashboard, options: argparse.Namespace) -> None:
    app, pattern = options.rest
    page.view("pushes")
    label = "[...document.querySelectorAll('label')].find((one) => one.textContent === {!r})"
    for name, text in (("App", app), ("Match", pattern)):
        page.ask(f"void (document.getElementById({label.format(name)}.htmlFor).focus(), document.activeElement.select())")
        page.type(text)
    page.ask("void document.activeElement.closest('form').querySelector('button').focus()")
    page.press("Enter", 13, "\r")
    page.wait("document.getElementById('dry-matched') !== null || [...document.querySelectorAll('.fault')].some((one) => one.textContent)")
    say(matched=page.ask("document.getElementById('dry-matched')?.textContent ?? null"),
        fault=page.ask("[...document.querySelectorAll('.fault')].map((one) => one.textContent).join('')"))


def locked(page: Dashboard, options: argparse.Namespace) -> None:
    wrong, right = options.rest
    page.wait("document.querySelector('form.token') !== null")
    say(found=page.axe()["violations"])
    page.type(wrong)
    page.press("Enter", 13, "\r")
    page.wait("document.querySelector('form.token .fault')?.textContent.includes('not known') === true")
    say(refused=True, kept=page.ask("sessionStorage.length"))
    page.wait("document.activeElement.id === 'token'")
    page.type(right)
    page.press("Enter", 13, "\r")
    page.wait("document.getElementById('main').dataset.shown === 'now'")
    say(live=page.ask("document.getElementById('status').innerText"), address=page.ask("location.href"),
        kept=page.ask("sessionStorage.length"), stored=page.ask("localStorage.length"), cookies=page.ask("document.cookie"))


def arrival(page: Dashboard, options: argparse.Namespace) -> None:
    page.wait("document.getElementById('main').dataset.shown === 'now'")
    say(address=page.ask("location.href"), entries=page.ask("history.length"), kept=page.ask("sessionStorage.length"),
        stored=page.ask("localStorage.length"), cookies=page.ask("document.cookie"))
    # The same address once more, in a page that is open.
    page.ask("void sessionStorage.clear()")
    page.ask(f"void (location.href = {json.dumps(options.url)})")
    page.wait("sessionStorage.length === 1")
    say(again=page.ask("location.href"))


def tables(page: Dashboard, options: argparse.Namespace) -> None:
    for place in ("now", "budget", "forecast"):
        page.view(place)
        say(view=place, canvases=page.ask("document.querySelectorAll('canvas').length"),
            tables=page.ask("document.querySelectorAll('figure table').length"), violations=page.axe()["violations"])


def away(page: Dashboard, options: argparse.Namespace) -> None:
    page.view("now")
    say(complaints=page.complaints())
    page.events.clear()
    say(step="lose")
    page.wait("!document.getElementById('banner').hidden")
    page.wait("/from \\d\\d:\\d\\d:\\d\\d/.test(document.getElementById('banner-text').textContent)")
    page.wait("/\\d+ s old/.test(document.getElementById('banner-next').textContent)")
    # The waits grow.
    page.wait("/in [5-9] s/.test(document.getElementById('banner-next').textContent)")
    if options.shots:
        for size, scheme in (("wide", "light"), ("phone", "dark")):
            page.show(size, scheme)
            page.picture(options.shots / f"away-{size}-{scheme}.png", size, scheme)
    say(banner=page.ask("document.getElementById('banner').innerText"), status=page.ask("document.getElementById('status').innerText"),
        stillShown=page.ask("document.querySelectorAll('main .card').length"), violations=page.axe()["violations"])
    say(step="return")
    while page.ask("document.getElementById('banner').hidden") is not True:
        page.ask("document.getElementById('banner-retry').click()")
        page.ask("new Promise((done) => setTimeout(done, 300))")
    page.wait("document.getElementById('status').innerText === 'Live'")
    # That it does not answer is logged by the browser itself, and nothing else is.
    say(back=True, complaints=[one for one in page.complaints() if not one.startswith("network: Failed to load resource: net::")])
    page.events.clear()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="chromium")
    parser.add_argument("--url", required=True)
    parser.add_argument("--shots", type=pathlib.Path)
    jobs = {"tour": tour, "numbers": numbers, "texts": texts, "dry-run": dry_run, "locked": locked, "arrival": arrival,
            "tables": tables, "away": away}
    parser.add_argument("job", choices=jobs)
    parser.add_argument("rest", nargs="*")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        page = Dashboard(options.program, profile)
        try:
            page.open(options.url)
            # Until it has taken the token out of its address, and shows a view.
            page.wait("document.getElementById('main')?.dataset.shown !== undefined")
            page.show("wide", "light")
            jobs[options.job](page, options)
            say(complaints=page.complaints())
        finally:
            page.close()


if __name__ == "__main__":
    main()

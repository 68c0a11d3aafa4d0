"""Drives the dashboard page in Chromium without a window.

    dashboard.py --url https://localhost:9443 --shots folder tour now budget instances/host-1:scores-0
    dashboard.py --url … numbers | texts now system | dry-run APP PATTERN | locked WRONG RIGHT | arrival | tables | away
    dashboard.py --url … find TEXT… | filter VIEW NAME=VALUE… | act VIEW BUTTON [FIELD=VALUE…] | follow | looking | asks
    dashboard.py --url … team VIEW… | links VIEW | press VIEW BUTTON WORDS
    dashboard.py --url … --shots folder pictures NAME VIEW…

Everything it learns is one line of JSON each on standard output; the tests say what it has to be. Waits are for conditions
of the page. `away` says `lose` when the gateway may go, and `return` when it may come back.
"""

import argparse
import importlib.resources
import json
import pathlib
import re
import tempfile

from browser import Browser

TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]

# The elements that the keyboard should come to, in this order.
TABBABLE = """[...document.querySelectorAll('a[href], button, input, select, textarea, summary, [tabindex="0"]')]
  .filter((one) => !one.disabled && one.checkVisibility({visibilityProperty: true}) && one.tabIndex >= 0)"""

FOCUSED = f"""(() => {{
  const all = {TABBABLE};
  const active = document.activeElement;
  const style = getComputedStyle(active);
  return {{ place: all.indexOf(active), count: all.length, what: active.outerHTML.slice(0, 120),
    isSeen: style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2 }};
}})()"""

# The place to which the page is scrolled, the element with the focus, and the elements over the brand.
PAGE = """(() => { const brand = document.querySelector('.brand span').getBoundingClientRect();
  return { scrolled: [scrollX, scrollY], focused: document.activeElement.outerHTML.slice(0, 80),
    over: document.elementsFromPoint(brand.x + 3, brand.y + 3).map((one) => one.outerHTML.slice(0, 80)) }; })()"""

SPLIT = """Object.fromEntries([...document.querySelectorAll('main [data-outcome]')].map((one) =>
  [one.dataset.outcome, Number(one.querySelector('[data-count]').dataset.count)]))"""

# Of each card of a view, by its heading: where it ends, and how many of its rows are whole in the window.
CARDS = """Object.fromEntries([...document.querySelectorAll('#main section.card')].filter((one) => one.checkVisibility()).map((one) =>
  [one.querySelector('h2').textContent, { end: one.getBoundingClientRect().bottom,
    rows: [...one.querySelectorAll('.table:not(.plain) tbody tr')].filter((row) => row.getBoundingClientRect().bottom <= innerHeight).length }]))"""

# Where To do, the headline, and else the first row of a list lead.
LEADS = """[...new Set([...document.querySelectorAll('#main :is(.todo, .said) a'), document.querySelector('#main .list tbody a')]
  .filter(Boolean).map((one) => one.hash.slice(2)))]"""


def say(**line: object) -> None:
    print(json.dumps(line), flush=True)


class Dashboard(Browser):
    """The page in a browser."""

    sizes = {"wide": (1440, 900, 1), "phone": (390, 844, 2)}

    def view(self, place: str, again: bool = True) -> None:
        """Goes to a view and waits until it has shown what the gateway says; twice, since the second time changes what is there."""
        self.ask(f"void (location.hash = {json.dumps('#/' + place)})")
        name = place.split("?")[0].split("/")[0]
        self.wait(f"document.getElementById('main').dataset.shown === {json.dumps(name)}")
        if not again:
            return
        shows = self.ask("Number(document.getElementById('main').dataset.shows)")
        self.ask("document.getElementById('status').click()")
        self.wait(f"Number(document.getElementById('main').dataset.shows) > {shows}")

    def pictures(self, folder: pathlib.Path, name: str, places: list[str]) -> None:
        """Now, the views where an operator would look next, and these ones: as the window shows them, and on a phone as long as they are."""
        self.show("wide", "light")
        self.view("now")
        leads = self.ask(LEADS)
        for place in [one for one in leads if one.startswith("instances?")][:1]:
            self.view(place)
            leads += self.ask(LEADS)
        for size, scheme in ((size, scheme) for size in self.sizes for scheme in ("light", "dark")):
            self.show(size, scheme)
            for place in dict.fromkeys(["now", *leads, *places]):
                self.view(place)
                view = "" if place == "now" else "-" + words(re.sub(r"/.*", "-one", place))
                file = folder / f"{name}{view}-{size}-{scheme}.png"
                if size == "phone":
                    self.picture(file, size, scheme)
                else:
                    self.wait_for_drawing()
                    self.keep_picture(file)

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

    def axe(self, part: str = "") -> dict:
        """What axe-core finds wrong, and of how many texts it computed the contrast. Looks at the page as it is before anybody
        uses it: a focused skip link lies over the brand. What it could not compute, since the page was being drawn, it is asked
        again; if it never can, it is told what lies there. Of a part that is open (a selector) the focus stays where it is."""
        for _ in range(10):
            self.ask("void scrollTo(0, 0)" if part else "void (document.activeElement.blur(), scrollTo(0, 0))")
            self.wait_for_drawing()
            found = self.axe_once(part)
            if not any("could not be determined" in text for text in found["violations"]):
                return found
        found["violations"].append(f"the page then: {json.dumps(self.ask(PAGE))}")
        return found

    def axe_once(self, part: str = "") -> dict:
        if self.ask("typeof window.axe") != "object":
            script = importlib.resources.files("axe_core_python").joinpath("axe.min.js").read_text()
            self.call("Runtime.evaluate", expression=script)
        options = json.dumps({"runOnly": TAGS, "preload": False, "resultTypes": ["violations", "passes", "incomplete"]})
        return self.ask(f"""axe.run({json.dumps(part) if part else "document"}, {options}).then((found) => ({{
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


def words(place: str) -> str:
    """A view's address as a part of a file's name."""
    return re.sub(r"%[0-9A-F]{2}|[^A-Za-z0-9.]+", "-", place)[:80]


def pictures(page: Dashboard, options: argparse.Namespace) -> None:
    name, *places = options.rest
    page.pictures(options.shots, name, places)


def tour(page: Dashboard, options: argparse.Namespace) -> None:
    for size in page.sizes:
        for scheme in ("light", "dark"):
            page.show(size, scheme)
            for place in options.rest:
                page.view(place, again=(size, scheme) == ("wide", "light"))
                if options.shots:
                    page.picture(options.shots / f"{words(place)}-{size}-{scheme}.png", size, scheme)
                found = page.axe()
                line = {"view": place, "size": size, "scheme": scheme, "violations": found["violations"], "contrasts": found["contrasts"],
                        "overflow": page.ask("document.documentElement.scrollWidth - document.documentElement.clientWidth"),
                        "cards": page.ask(CARDS)}
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
        violations = page.axe()["violations"]
        # Where the outcomes end, in a window that is scrolled to its top.
        end = page.ask("document.querySelector('#main .split')?.closest('.card').getBoundingClientRect().bottom ?? null")
        say(view=place, text=page.ask("document.getElementById('main').innerText"), violations=violations, outcomesEnd=end)


def links(page: Dashboard, options: argparse.Namespace) -> None:
    """Where the links below the title of a view lead."""
    page.view(options.rest[0])
    say(links=page.ask("[...document.querySelectorAll('#subtitle a')].map((one) => decodeURIComponent(one.hash))"))


def press(page: Dashboard, options: argparse.Namespace) -> None:
    """Presses a button of a view, and waits until the view has these words."""
    view, button, words = options.rest
    page.view(view)
    found = f"[...document.querySelectorAll('#main button')].find((one) => one.textContent === {button!r})"
    page.ask(f"void {found}.click()")
    page.wait(f"document.getElementById('main').innerText.includes({words!r})")
    say(said=page.ask("document.getElementById('main').innerText"), violations=page.axe()["violations"])


def dry_run(page: Dashboard, options: argparse.Namespace) -> None:
    app, pattern = options.rest
    page.view("pushes")
    page.ask("void (document.querySelector('details.try').open = true)")
    label = "[...document.querySelectorAll('details.try label')].find((one) => one.textContent === {!r})"
    page.wait(f"[...document.getElementById({label.format('App')}.htmlFor).options].some((one) => one.value === {app!r})")
    page.ask(f"void (document.getElementById({label.format('App')}.htmlFor).value = {app!r})")
    page.ask(f"void document.getElementById({label.format('Match')}.htmlFor).focus()")
    page.type(pattern)
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
    page.wait("document.querySelector('form.token .fault')?.textContent.includes('does not know') === true")
    say(refused=True, kept=page.ask("sessionStorage.length"))
    page.wait("document.activeElement.id === 'token'")
    page.type(right)
    page.press("Enter", 13, "\r")
    page.wait("document.getElementById('main').dataset.shown === 'now'")
    page.wait("document.getElementById('status').innerText.trim() === 'Live'")
    say(live=page.ask("document.getElementById('status').innerText.trim()"), address=page.ask("location.href"),
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
    for place in ("now", "apps", "forecast"):
        page.view(place)
        say(view=place, canvases=page.ask("document.querySelectorAll('canvas').length"),
            tables=page.ask("document.querySelectorAll('figure table').length"), violations=page.axe()["violations"])


def away(page: Dashboard, options: argparse.Namespace) -> None:
    page.view("now")
    say(complaints=page.complaints())
    page.events.clear()
    say(step="lose")
    page.wait("!document.getElementById('banner').hidden")
    page.wait("/at .*\\d\\d:\\d\\d:\\d\\d/.test(document.getElementById('banner-text').textContent)")
    page.wait("/\\d+ s old/.test(document.getElementById('banner-next').textContent)")
    # The waits grow.
    page.wait("/in [5-9] s/.test(document.getElementById('banner-next').textContent)")
    if options.shots:
        for size, scheme in (("wide", "light"), ("phone", "dark")):
            page.show(size, scheme)
            page.picture(options.shots / f"away-{size}-{scheme}.png", size, scheme)
    say(banner=page.ask("document.getElementById('banner').innerText"), status=page.ask("document.getElementById('status').innerText.trim()"),
        stillShown=page.ask("document.querySelectorAll('main .card').length"), violations=page.axe()["violations"])
    say(step="return")
    while page.ask("document.getElementById('banner').hidden") is not True:
        page.ask("document.getElementById('banner-retry').click()")
        page.ask("new Promise((done) => setTimeout(done, 300))")
    page.wait("document.getElementById('status').innerText.trim() === 'Live'")
    # That it does not answer is logged by the browser itself, and nothing else is.
    say(back=True, complaints=[one for one in page.complaints() if not one.startswith("network: Failed to load resource: net::")])
    page.events.clear()


def find(page: Dashboard, options: argparse.Namespace) -> None:
    """Types into the box that finds things, by keyboard alone; says what it offers and where the first one leads."""
    for text in options.rest:
        page.view("now")
        page.ask("void document.activeElement.blur()")
        page.press("/", 191, "/")
        page.wait("document.activeElement.id === 'find'")
        page.type(text)
        page.wait("!document.getElementById('found').hidden || /Nothing/.test(document.getElementById('found-note').textContent)")
        page.wait("!/looking/.test(document.getElementById('found-note').textContent)")
        found = page.ask("[...document.querySelectorAll('#found [role=option]')].map((one) => [...one.children].map((part) => part.textContent))")
        line = {"text": text, "found": found, "violations": page.axe("#search")["violations"]}
        if found:
            page.ask("void document.getElementById('find').focus()")
            before = page.ask("location.hash")
            if page.ask("document.getElementById('found').hidden"):
                page.ask("document.getElementById('find').dispatchEvent(new Event('input'))")
            page.wait("!document.getElementById('found').hidden && !/looking/.test(document.getElementById('found-note').textContent)")
            page.press("Enter", 13, "\r")
            page.wait(f"location.hash !== {json.dumps(before)}")
            line["led"] = page.ask("decodeURIComponent(location.hash)")
        say(**line)


def filter_by(page: Dashboard, options: argparse.Namespace) -> None:
    """Chooses in the filters of a view, one after the other; says what the list has then, and what can be chosen."""
    view, *choices = options.rest
    page.view(view)
    for text in choices:
        name, value = text.split("=")
        control = f"document.querySelector('[data-key=filter-{name}]')"
        page.wait(f"[...{control}.options].some((one) => one.value === {value!r})")
        page.ask(f"void ({control}.focus(), {control}.value = {value!r}, {control}.dispatchEvent(new Event('change')))")
        page.wait(f"location.hash.includes('{name}=')")
        page.wait(f"document.getElementById('main').dataset.shown === '{view}'")
        say(filter=text, address=page.ask("location.hash"), rows=page.ask("document.querySelectorAll('main .list tbody tr').length"),
            kept=page.ask("document.activeElement.dataset.key ?? ''"), text=page.ask("document.querySelector('main .list').innerText"),
            options=page.ask(f"[...{control}.options].map((one) => one.value)"))


def act(page: Dashboard, options: argparse.Namespace) -> None:
    """Presses a button of a view's actions, fills the dialog in, says what it says, agrees, and says what came of it."""
    view, button, *fields = options.rest
    page.view(view, again=False)
    page.wait("document.querySelector('.actions')?.children.length > 0")
    found = f"[...document.querySelectorAll('.actions button')].find((one) => one.textContent.startsWith({button!r}))"
    if page.ask(f"{found} === undefined"):
        say(refused=page.ask("[...document.querySelectorAll('.actions')].map((one) => one.innerText).join(' ')"))
        return
    page.ask(f"void {found}.focus()")
    page.press("Enter", 13, "\r")
    page.wait("document.querySelector('dialog[open]') !== null")
    for text in fields:
        name, value = text.split("=")
        page.ask(f"""void (() => {{ const label = [...document.querySelectorAll('dialog label')].find((one) => one.textContent === {name!r});
          const control = document.getElementById(label.htmlFor); control.value = {value!r}; control.dispatchEvent(new Event('input')); }})()""")
    if options.shots:
        page.wait_for_drawing()
        page.keep_picture(options.shots / f"act-{re.sub('[^a-z]+', '-', button.lower())}.png")
    say(told=page.ask("document.querySelector('dialog').innerText"), inside=page.ask("document.querySelector('dialog').contains(document.activeElement)"),
        violations=page.axe("dialog")["violations"])
    page.ask("void document.querySelector('dialog .primary').click()")
    page.wait("['good', 'bad'].includes(document.querySelector('dialog .outcome-line').dataset.level)")
    say(result=page.ask("document.querySelector('dialog .outcome-line').textContent"), level=page.ask("document.querySelector('dialog .outcome-line').dataset.level"))
    page.press("Escape", 27)
    page.wait("document.querySelector('dialog') === null")
    page.view("now")
    say(paused=page.ask("document.getElementById('orders').innerText"), marks=page.ask("document.querySelector('.marks').innerText"))


def follow(page: Dashboard, options: argparse.Namespace) -> None:
    """Shows what happens as it is told: says `ready`, and then how many pushes there were once the page has heard of one."""
    page.view("now")
    page.wait("document.getElementById('status').innerText.trim() === 'Live'")
    page.ask("void (document.querySelector('.chart details').open = true, document.querySelector('.chart details').dispatchEvent(new Event('toggle')))")
    # The page asks for the earlier seconds; from here on it is only told.
    page.ask("""void (window.asked = [], window.fetch = ((before) => (where, ...more) => { window.asked.push(String(where)); return before(where, ...more); })(window.fetch))""")
    say(step="ready")
    page.wait("[...document.querySelectorAll('.chart tbody tr')].some((row) => Number(row.children[1].textContent) > 0)")
    say(told=True, history=page.ask("window.asked.filter((one) => one.startsWith('/v1/history?step=second')).length"))


def looking(page: Dashboard, options: argparse.Namespace) -> None:
    """A list whose first pages are empty, as of a long search, and whose end is empty, too."""
    page.view("now")
    page.ask("""void (window.go = null, window.fetch = ((before) => async (where, ...more) => {
      if (!String(where).startsWith('/v1/instances?')) return before(where, ...more);
      const isEnd = String(where).includes('cursor=');
      if (isEnd) await new Promise((done) => { window.go = done; });
      return Response.json({asOf: new Date().toISOString(), positions: [], instances: [], ...(isEnd ? {} : {next: '0.1'})});
    })(window.fetch))""")
    page.ask("void (location.hash = '#/instances?state=exhausted')")
    page.wait("window.go !== null")
    page.wait("/Still searching/.test(document.getElementById('main').innerText)")
    say(meanwhile=page.ask("document.getElementById('main').innerText"))
    page.ask("void window.go()")
    page.wait("document.getElementById('main').dataset.shown === 'instances'")
    say(after=page.ask("document.getElementById('main').innerText"))


def team(page: Dashboard, options: argparse.Namespace) -> None:
    """What a sender whose key reads sees: the views that there are, that others lead to the first, and each that is named."""
    first = "location.hash === '#/apps' && document.getElementById('main').dataset.shown === 'apps'"
    page.wait("document.getElementById('main').dataset.shown === 'apps'")
    say(views=page.ask("[...document.querySelectorAll('#views a')].filter((one) => one.checkVisibility()).map((one) => one.hash.slice(2))"),
        team=page.ask("document.getElementById('team').textContent"), kept=page.ask("sessionStorage.length"))
    for place in ("now", "forecast", "system"):
        page.ask(f"void (location.hash = '#/{place}')")
        page.wait(first)
    for place in options.rest:
        page.view(place)
        if options.shots:
            page.picture(options.shots / f"{words(place)}.png", "wide", "light")
        say(view=place, text=page.ask("document.body.innerText"), violations=page.axe()["violations"],
            links=page.ask("[...document.querySelectorAll('main a[href^=\\'#/\\']')].map((one) => one.hash.slice(2).split(/[/?]/)[0])"),
            buttons=page.ask("[...document.querySelectorAll('#main button')].filter((one) => one.checkVisibility()).map((one) => one.textContent)"))


def asks(page: Dashboard, options: argparse.Namespace) -> None:
    """Says what the page asked for between one time that it looked anew and the time after the next."""
    page.view("now")
    page.wait("document.getElementById('status').innerText.trim() === 'Live'")
    page.ask("""void (window.asked = [], window.fetch = ((before) => (where, ...more) => { window.asked.push(String(where)); return before(where, ...more); })(window.fetch))""")
    shows = page.ask("Number(document.getElementById('main').dataset.shows)")
    page.wait(f"Number(document.getElementById('main').dataset.shows) >= {shows + 2}")
    say(asked=page.ask("window.asked"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=Dashboard.shell)
    parser.add_argument("--url", required=True)
    parser.add_argument("--shots", type=pathlib.Path)
    parser.add_argument("--strict", action="store_true", help="trust only the certificates that this user's browser trusts")
    jobs = {"tour": tour, "numbers": numbers, "texts": texts, "dry-run": dry_run, "locked": locked, "arrival": arrival,
            "tables": tables, "away": away, "find": find, "filter": filter_by, "act": act, "follow": follow, "looking": looking, "asks": asks,
            "team": team, "links": links, "press": press, "pictures": pictures}
    parser.add_argument("--seconds", type=float, default=Browser.seconds, help="the longest wait for one expression")
    parser.add_argument("--ahead", type=int, default=0, help="how many seconds the browser's clock is ahead")
    parser.add_argument("job", choices=jobs)
    parser.add_argument("rest", nargs="*")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        page = Dashboard(options.program, profile, trusts_all=not options.strict)
        page.seconds, page.ahead = options.seconds, options.ahead
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

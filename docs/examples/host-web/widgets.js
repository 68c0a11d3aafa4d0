// Draws the contents of the example timeline provider.

const teams = {
  seahawks: { short: "SEA", colour: "#0b5d54" },
  rams: { short: "LAR", colour: "#f0a020" },
  bears: { short: "CHI", colour: "#b8461b" },
  jets: { short: "NYJ", colour: "#2f8f5b" },
};
const characters = { panda: "🐼", spouty: "🐳", egghead: "🥚" };
const ringLength = 2 * Math.PI * 42;

function element(tag, className, ...children) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  node.append(...children);
  return node;
}

function team(name) {
  const known = teams[name] ?? { short: name.slice(0, 3).toUpperCase(), colour: "#3d4b66" };
  return { ...known, name: name[0].toUpperCase() + name.slice(1) };
}

function side({ short, name }) {
  return element("div", "team", element("span", "badge", short), name);
}

function digits(now, before) {
  return element("span", before !== undefined && before !== now ? "changed" : "", String(now));
}

function drawScore(card, content, before) {
  const [us, them] = [team(content.team), team(content.opponent)];
  card.style.setProperty("--us", us.colour);
  card.style.setProperty("--them", them.colour);
  const score = element("div", "digits", digits(content.us, before?.us), "–", digits(content.them, before?.them));
  score.dataset.score = `${content.us}-${content.them}`;
  card.replaceChildren(
    element("p", "caption", element("span", "", "Live score"), element("span", "", `${content.minute}′`)),
    element("div", "body", side(us), score, side(them)),
    element("p", "caption", element("span", "", content.us === content.them ? "Level" : content.us > content.them ? `${us.name} lead` : `${them.name} lead`)),
  );
}

function level(health) {
  return health >= 60 ? "var(--good)" : health >= 30 ? "var(--fair)" : "var(--bad)";
}

function drawCharacter(card, content) {
  card.style.setProperty("--level", level(content.health));
  const ring = element("div");
  ring.innerHTML = `<svg class="ring" viewBox="0 0 100 100" role="img">
    <circle class="track" cx="50" cy="50" r="42"/>
    <circle class="value" cx="50" cy="50" r="42" transform="rotate(-90 50 50)" stroke-dasharray="${ringLength}"
      stroke-dashoffset="${ringLength * (1 - content.health / 100)}"/>
    <text x="50" y="52"></text></svg>`;
  ring.querySelector("text").textContent = characters[content.name] ?? "🙂";
  const health = element("p", "health", `${content.health} %`);
  health.dataset.health = content.health;
  card.replaceChildren(
    element("p", "caption", element("span", "", "Health")),
    element("div", "body", ring,
      element("div", "", element("p", "name", content.name[0].toUpperCase() + content.name.slice(1)), health)),
    element("p", "caption", element("span", "", content.health >= 100 ? "Ready for battle" : "Recovering")),
  );
}

const blank = {
  scores: ({ team }) => ({ type: "score", team: team ?? "seahawks", opponent: "rams", us: 0, them: 0, minute: 0 }),
  character: ({ character }) => ({ type: "character", name: character ?? "panda", health: 100 }),
};
const shown = new Map();

// Draws an entry, or a placeholder if it has no content; false if there is nothing to draw.
export function draw({ instance, kind, content, configuration = {} }) {
  let card = document.getElementById(`widget-${instance}`);
  if (!card) {
    card = element("article");
    card.id = `widget-${instance}`;
    document.getElementById("widgets").append(card);
  }
  const isPlaceholder = !content || content.isPlaceholder === true;
  if (isPlaceholder && shown.has(instance)) return false;
  const drawn = content ?? blank[kind](configuration);
  card.className = `widget ${drawn.type}${isPlaceholder ? " placeholder" : ""}`;
  (drawn.type === "character" ? drawCharacter : drawScore)(card, drawn, shown.get(instance));
  if (isPlaceholder) return false;
  shown.set(instance, drawn);
  void card.offsetWidth; // Restarts the animation.
  card.classList.add("fresh");
  return true;
}

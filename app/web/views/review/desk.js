/** One case after the other: text, given labels, the question, four keys; then the corrections. */

import { copyButton } from "../../clipboard.js";
import { element, replace } from "../../element.js";
import { download } from "../../files/drop_zone.js";
import { count, decimal } from "../../numbers.js";
import { button, card, progressBar, row, soft, stack } from "../../parts.js";
import { DECISIONS } from "../../review/cases.js";
import { correctionsFile, trainCommand } from "../../review/corrections.js";

const QUESTIONS = {
  suspect: { missing: ["Probably missing: ", ""], wrong: ["Probably wrong: ", ""] },
  mistake: {
    missing: ["The model assigned ", ", which is not given. Is it missing?"],
    wrong: ["The model did not assign ", ", which is given. Is it wrong?"],
  },
};
const KEYS = "Keep: it stays as it is. Take: the document has the label. Drop: it does not. ← and → go back and on.";
const COMMAND = "Your file stays as it is; this command trains on it with the corrections applied:";

/** The node; keys are heard until the view is left. */
export function desk(context) {
  const { review, signal } = context, place = stack();
  const act = (change) => {
    change();
    replace(place, [progress(review), caseCard(context, act), corrections(context)]);
  };
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, textarea, select")) return;
    const decision = DECISIONS.find(({ key }) => key === event.key.toUpperCase());
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (decision) act(() => review.decide(decision.name));
    else if (by) act(() => review.move(by));
  }, { signal });
  act(() => {});
  return place;
}

function progress(review) {
  const decided = review.cases.filter((one) => review.decisionOn(one)).length, all = review.cases.length;
  const bar = progressBar("Decided");
  bar.show(decided / all, `${count(decided)} of ${count(all)} decided`);
  return bar.node;
}

function caseCard({ review, documents }, act) {
  const one = review.current, document = documents.get(one.line) ?? documents.get(one.id);
  const given = document.labels.map((label) => chip(label, label === one.label));
  const step = (title, by) => button(title, () => act(() => review.move(by)), {
    class: "quiet", disabled: !review.cases[review.at + by],
  });
  const title = document.id ? `Document ${document.id}` : `Line ${count(document.line)}`;
  return card(`${count(review.at + 1)}. ${title}`, [
    element("div", { class: "document text", tabindex: 0, role: "region", "aria-label": "Text" }, document.text || "(no text)"),
    element("p", {}, ["Given: ", given.length ? given : "no label"]),
    element("p", { class: "question" }, question(one)),
    row(DECISIONS.map((decision) => decisionButton(decision, review, act)), "decisions"),
    soft(KEYS),
  ], row([step("← Back", -1), step("Next →", 1)]));
}

function decisionButton({ name, key, title }, review, act) {
  const isChosen = review.decisionOn(review.current) === name;
  return button([element("kbd", {}, key), title], () => act(() => review.decide(name)), {
    class: isChosen && "primary", "aria-pressed": String(isChosen), "aria-keyshortcuts": key,
  });
}

const chip = (label, isAsked) => element("span", { class: isAsked ? "chip asked" : "chip" }, label);

function question({ label, kind, probability, why }) {
  const [before, behind] = QUESTIONS[why][kind];
  return [before, chip(label, true), behind, probability != null && ` (probability ${decimal(probability)})`];
}

function corrections({ review, report, evaluation }) {
  const data = evaluation.name || "DATA", name = `${data.replace(/\.\w+$/, "")}.corrections.csv`;
  const command = trainCommand(data, evaluation.model, name);
  const save = () => download(new Blob([correctionsFile(review, report.data.sha256)]), name);
  const state = { class: review.isComplete && "primary", disabled: !review.decisions.size };
  const shown = [element("pre", { tabindex: 0 }, command), copyButton("Copy", () => command)];
  return card(review.isComplete ? "All is decided" : "Corrections", [
    soft(COMMAND), element("div", { class: "command" }, shown),
  ], button("Download the corrections", save, state));
}

/** The labels of a text, those below their cut apart; one can be opened to say why. */

import { element, replace } from "../../element.js";
import { plural } from "../../numbers.js";
import { barRow } from "./bar_row.js";
import { MOST_LABELS } from "./requests.js";

const PAGE = 25;
const NAMED = 10;

/**
 * The list: `show(prediction, extra)`, where `extra` is a label that is shown in any case, and
 * `open(name)`, which opens a label or closes it. `onopen(label, place)` is called for the one that
 * is open whenever it is drawn, `onopen(null)` when none is.
 */
export function labelList({ onopen }) {
  const node = element("div", { class: "stack" });
  let [sections, opened, place, first] = [null, null, null, 0];

  function show(prediction, extra) {
    [sections, first] = [sectionsOf(prediction, extra), 0];
    draw();
  }

  function open(name) {
    if (opened === name) close();
    else [opened, place] = [name, element("div", { class: "why" })];
    const at = sections.assigned.findIndex(({ label }) => label === name);
    if (at >= 0) first = at - (at % PAGE);
    draw();
    [...node.querySelectorAll("li")].find((item) => item.dataset.label === name)?.firstChild.focus();
  }

  function close() {
    opened = null;
    onopen(null);
  }

  function draw() {
    const { assigned, below, asked, abstained } = sections;
    replace(node, [
      element("ul", { class: "bars" }, assigned.slice(first, first + PAGE).map((label) => row(label, true))),
      assigned.length > PAGE && pager(assigned.length),
      assigned.length === 0 && element("p", { class: "soft" }, "No label passes its cut."),
      others("Below their cut", below),
      others("Asked about", asked),
      abstained.length > 0 && element("p", { class: "notice" },
        ["The model would rather not decide about ", element("bdi", {}, someOf(abstained)), "."]),
    ]);
    const isThere = [...assigned, ...below, ...asked].some(({ label }) => label === opened);
    if (opened !== null && !isThere) close();
  }

  function others(title, labels) {
    return labels.length > 0 && element("section", { class: "stack" }, [
      element("h3", {}, title),
      element("ul", { class: "bars" }, labels.map((label) => row(label, false))),
    ]);
  }

  function row(label, isAssigned) {
    const isOpen = label.label === opened;
    const isByRule = isAssigned && label.threshold == null;
    if (isOpen) onopen({ label: label.label, isByRule }, place);
    return element("li", { class: isAssigned ? "is-assigned" : "", "data-label": label.label }, [
      barRow(label, isOpen, () => open(label.label)), isOpen && place,
    ]);
  }

  function pager(total) {
    const turn = (name, by, isEnd) => element("button", {
      type: "button", disabled: isEnd, onclick: () => { first += by; draw(); },
    }, name);
    const more = total === MOST_LABELS ? " or more" : "";
    return element("div", { class: "row soft" }, [
      turn("Previous", -PAGE, first === 0), turn("Next", PAGE, first + PAGE >= total),
      `${first + 1} – ${Math.min(first + PAGE, total)} of ${plural(total, "label")}${more}`,
    ]);
  }

  return { node, show, open };
}

/** Which labels stand where; with as many as were asked for, others are not all below their cut. */
function sectionsOf({ labels, below_cut: below = [], abstained = [] }, extra) {
  const sorted = (list) => [...list].sort((one, other) => (other.probability ?? 0) - (one.probability ?? 0));
  const shown = labels.length === MOST_LABELS ? [] : below;
  const isNew = extra !== null && ![...labels, ...shown].some(({ label }) => label === extra);
  return {
    assigned: sorted(labels), below: sorted(shown), asked: isNew ? [{ label: extra }] : [], abstained,
  };
}

function someOf(names) {
  const more = names.length > NAMED ? ` and ${names.length - NAMED} more` : "";
  return names.slice(0, NAMED).join(", ") + more;
}

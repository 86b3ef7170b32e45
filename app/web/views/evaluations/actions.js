/** What can be done with an evaluation that is done: review, rank, share, pin, note, delete. */

import { addressOf, fetchJson, key, request } from "../../api.js";
import { element } from "../../element.js";
import { download } from "../../files/drop_zone.js";
import { button, link, row } from "../../parts.js";
import { address } from "../../router.js";

const LONGEST_NOTE = 2000;

/** The row of buttons. */
export function actions(evaluation) {
  const { id, data } = evaluation, said = element("span", { class: "soft", role: "status" });
  const pinTitle = () => (evaluation.pinned ? "Unpin" : "Pin");
  const change = async (json) => {
    try {
      Object.assign(evaluation, await fetchJson(`evaluations/${id}`, { method: "PATCH", json }));
      said.textContent = "Kept.";
    } catch (error) {
      said.textContent = error.message;
    }
    pin.textContent = pinTitle();
  };
  const pin = button(pinTitle(), () => change({ pinned: !evaluation.pinned }));
  const note = element("input", {
    type: "text", value: evaluation.note, maxlength: LONGEST_NOTE, placeholder: "A note", "aria-label": "Note",
    onchange: () => change({ note: note.value }),
  });
  return row([
    link("Review labels", address(["review"], { evaluation: id }), "button"),
    link("Leaderboard", address(["leaderboard", data]), "button"),
    wholeReport(evaluation), pin, deletion(id), element("span", { class: "note" }, note), said,
  ]);
}

/** A button that asks once more before it deletes. */
function deletion(id) {
  const remove = async () => {
    await request(`evaluations/${id}`, { method: "DELETE" });
    location.hash = "#/evaluate";
  };
  const ask = button("Delete", () => ask.replaceWith(button("Really delete", remove)));
  return ask;
}

/** The report as one page: a link, or where a key is needed, which a link cannot send, a file. */
function wholeReport({ id, model }) {
  const path = `evaluations/${id}/report`;
  if (!key()) {
    return element("a", { class: "button", href: addressOf(path), target: "_blank", rel: "noopener" }, "Report as one page");
  }
  return button("Download the report", async () => {
    const response = await request(path, { headers: { accept: "text/html" } });
    download(await response.blob(), `${model}.report.html`);
  });
}

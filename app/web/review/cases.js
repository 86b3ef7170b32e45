/** What a reviewer looks at: pairs of a document and a label that are probably wrong. */

/** What may be decided, with the key for it. */
export const DECISIONS = [
  { name: "keep", key: "K", title: "Keep" },
  { name: "take", key: "T", title: "Take" },
  { name: "drop", key: "D", title: "Drop" },
  { name: "unsure", key: "?", title: "Unsure" },
];

/**
 * The suspects of a report, most suspect first, then the mistakes of its worst documents.
 *
 * A label that was wrongly assigned may be missing in the file; one that was missed may be wrong.
 */
export function casesOf(report) {
  const mistakes = (report.worst_documents ?? []).flatMap((document) => [
    ...document.wrong.map((label) => mistake(document, label, "missing")),
    ...document.missed.map((label) => mistake(document, label, "wrong")),
  ]);
  const suspects = (report.suspects ?? []).map((one) => ({ ...one, why: "suspect" }));
  const unique = new Map();
  for (const one of [...suspects, ...mistakes]) {
    if (!unique.has(keyOf(one))) unique.set(keyOf(one), one);
  }
  return [...unique.values()];
}

/** What names a case among the others of a report. */
export const keyOf = (one) => JSON.stringify([one.line ?? one.id, one.label]);

function mistake({ id, line = null }, label, kind) {
  return { id, line, label, kind, probability: null, why: "mistake" };
}

/** Decisions by case, kept for the tab: `store` is its sessionStorage. */
export class Review {
  constructor(name, cases, store) {
    Object.assign(this, { name: `labelserve.review.${name}`, cases, store, decisions: new Map(), at: 0 });
    const kept = JSON.parse(store.getItem(this.name) ?? "null");
    if (!kept) return;
    this.decisions = new Map(kept.decisions);
    this.at = Math.min(kept.at, Math.max(cases.length - 1, 0));
  }

  get current() {
    return this.cases[this.at];
  }

  /** Decide on the current case and go on to the next one that is not decided. */
  decide(decision) {
    this.decisions.set(keyOf(this.current), decision);
    const next = this.cases.findIndex((one, place) => place > this.at && !this.decisionOn(one));
    this.move(next < 0 ? 0 : next - this.at);
  }

  decisionOn(one) {
    return this.decisions.get(keyOf(one)) ?? "";
  }

  /** Go so many cases on, or back. */
  move(by) {
    this.at = Math.max(0, Math.min(this.at + by, this.cases.length - 1));
    this.store.setItem(this.name, JSON.stringify({ at: this.at, decisions: [...this.decisions] }));
  }

  get isComplete() {
    return this.cases.every((one) => this.decisionOn(one));
  }
}

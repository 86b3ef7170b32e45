/** A report: headline figures with their intervals, labels, groups, confusions, documents. */

import { element } from "../../element.js";
import { count, decimal } from "../../numbers.js";
import { card, cellsTable, counts, link, soft, warnings } from "../../parts.js";
import { address } from "../../router.js";
import { labelTable } from "./label_table.js";
import { calibrationCard, curvesCard, riskCard } from "./report_plots.js";

const HEADLINES = {
  "micro.f1": "micro-F1", "macro.f1": "macro-F1", "macro_in_test.f1": "macro-F1 in test",
  "micro.precision": "micro-precision", "micro.recall": "micro-recall", subset_accuracy: "all labels right",
  "P@1": "P@1", lrap: "LRAP",
};
const GROUPS = {
  label_frequency: "Labels by training documents", document_labels: "Documents by true labels",
  document_length: "Documents by length", branch: "Labels by top branch",
};
const SHOWN = 12;

/** The whole report of one evaluation. */
export function reportView(report, { id, model }) {
  const groups = Object.entries(GROUPS).map(([name, title]) => groupCard(title, report.partitions[name] ?? []));
  return [
    warnings(report.warnings), headline(report), soft(facts(report)),
    element("div", { class: "plots" }, [
      curvesCard(report), calibrationCard(report.calibration), riskCard(report.risk_coverage),
    ]),
    card("Labels", labelTable(report.labels, model)),
    element("div", { class: "plots tables" }, [groups, confusions(report.most_confused)]),
    worst(report.worst_documents, id),
  ];
}

/** A figure by its name, `micro.f1`, of a report or one of its groups. */
function figure({ ranking, decisions }, name) {
  return name.split(".").reduce((values, part) => values?.[part], { ...ranking, ...decisions });
}

function headline(report) {
  const rows = Object.entries(HEADLINES).map(([name, title]) => [
    title, decimal(figure(report, name)), report.confidence[name]?.map(decimal).join(" – "),
  ]);
  return counts(rows, "figures-large");
}

function facts({ data, conventions, confidence }) {
  const about = `${count(data.documents)} documents, ${count(data.labels)} labels, decision ${conventions.decision}`;
  return Object.keys(confidence).length ? `${about}; below the figures their 95 % intervals.` : `${about}.`;
}

function groupCard(title, groups) {
  if (!groups.length) return null;
  const rows = groups.map((group) => [
    span(group), count(group.labels), count(group.documents),
    ...["micro.f1", "macro.f1", "P@1"].map((name) => decimal(figure(group, name))),
  ]);
  return card(title, cellsTable(title, ["group", "labels", "documents", "micro-F1", "macro-F1", "P@1"], rows));
}

function span({ from, to, branch, name }) {
  if (branch !== undefined) return branch === null ? "no branch" : [branch, name].filter(Boolean).join(" ");
  if (to === null) return `${count(from)}+`;
  return from === to ? count(from) : `${count(from)}–${count(to)}`;
}

function confusions(pairs) {
  if (!pairs.length) return null;
  const rows = pairs.slice(0, SHOWN).map((pair) => [pair.label, pair.taken_for, count(pair.documents)]);
  return card("Most confused labels", cellsTable("Most confused labels", ["missed", "assigned instead", "documents"], rows));
}

function worst(documents, id) {
  if (!documents.length) return null;
  const kinds = ["missed", "wrong", "right"], review = address(["review"], { evaluation: id });
  const rows = documents.map((one) => [one.id, count(one.errors), ...kinds.map((kind) => one[kind].join(", "))]);
  return card("Worst documents", [
    soft(["By id or number; ", link("look at them", review), " beside their texts."]),
    cellsTable("Worst documents", ["document", "errors", "missed", "wrongly assigned", "right"], rows),
  ]);
}

/** One operation: what it takes, the request as curl and Python, and its answer to a try. */

import { addressOf, key } from "../../api.js";
import { copyButton } from "../../clipboard.js";
import { element, replace } from "../../element.js";
import { send } from "./answer.js";
import { exampleOf, fieldsOf, typeOf } from "./schema.js";
import { curlOf, pythonOf } from "./snippets.js";

/** The form of an operation, filled with examples: `known` has values by the parameter's name. */
export function operationForm({ path, method, operation }, { document, known, signal }) {
  const { parameters = [], requestBody: { content = {}, description } = {}, security, responses } = operation;
  const inputs = parameters.map((parameter) => [parameter, inputOf(parameter, known)]);
  const body = bodyOf(content, document, known);
  const made = () => ({ method: method.toUpperCase(), ...filled(path, inputs), ...body.read() });
  const commands = [snippet("curl", curlOf), snippet("Python", pythonOf)];
  const write = () => {
    const { query, ...sent } = made();
    const given = { ...sent, url: String(addressOf(sent.path, query)), hasKey: Boolean(key() && security) };
    for (const command of commands) command.write(given);
  };
  const answer = element("div", { class: "stack", "aria-live": "polite" });
  const submit = (event) => {
    event.preventDefault();
    send(made(), answer, signal);
  };
  write();
  return element("form", { class: "stack", oninput: write, onsubmit: submit }, [
    furtherLines(operation.description),
    inputs.length > 0 && element("div", { class: "parameters" }, inputs.map(field)),
    body.nodes,
    element("div", { class: "row" }, [
      element("button", { class: "primary" }, "Send"),
      element("span", { class: "soft" }, `Answers: ${Object.keys(responses).join(", ")}`),
    ]),
    answer,
    element("div", { class: "columns" }, commands.map(({ node }) => node)),
    description && element("p", { class: "soft" }, worded(description)),
    Object.values(content).map(({ schema }) => fieldList(fieldsOf(schema, document))),
  ]);
}

function bodyOf(content, document, known) {
  const types = Object.keys(content);
  if (!types.length) return { nodes: [], read: () => ({}) };
  const value = exampleOf(content[types[0]], document, known);
  const text = element("textarea", { rows: 7, spellcheck: "false", class: "code", "aria-label": "Body", value });
  const type = element("select", { "aria-label": "Media type" }, types.map((name) => element("option", {}, name)));
  const nodes = [types.length > 1 && element("div", {}, type), text];
  return { nodes, read: () => ({ type: type.value, body: text.value }) };
}

function snippet(name, textOf) {
  const text = element("pre", { tabindex: "0", role: "group", "aria-label": name });
  const copying = copyButton("Copy", () => text.textContent, { class: "quiet", "aria-label": `Copy ${name}` });
  const head = element("div", { class: "row" }, [element("h3", {}, name), copying]);
  return { node: element("div", { class: "stack" }, [head, text]), write: (given) => replace(text, textOf(given)) };
}

/** The path with its parameters filled in, and the query of those that were given. */
function filled(path, inputs) {
  const query = {};
  for (const [{ name, in: place }, { value }] of inputs) {
    if (place === "path") path = path.replace(`{${name}}`, encodeURIComponent(value));
    else if (value) query[name] = value;
  }
  return { path, query };
}

function inputOf({ name, schema = {}, required, example = "" }, known) {
  const options = schema.type === "boolean" ? ["true", "false"] : schema.enum;
  if (options) return element("select", {}, ["", ...options].map((one) => element("option", {}, String(one))));
  const placeholder = String(schema.default ?? "");
  return element("input", { type: "text", required, value: required ? known[name] ?? example : "", placeholder });
}

function field([{ name, schema, required, description }, node]) {
  const said = [typeOf(schema), required && "required", description].filter(Boolean).join(" · ");
  return element("label", { class: "field" }, [element("span", {}, [element("code", {}, name), " ", worded(said)]), node]);
}

function fieldList(fields) {
  return fields.length > 0 && element("dl", { class: "schema" }, fields.map(([name, type, description, isRequired]) => [
    element("dt", {}, [element("code", {}, name), isRequired && " *"]),
    element("dd", {}, [element("span", { class: "soft" }, type), " ", worded(description)]),
  ]));
}

function furtherLines(description = "") {
  const further = description.split("\n").slice(1).join("\n").trim();
  return further && element("p", {}, worded(further));
}

/** A description with what stands between backticks as code. */
function worded(text) {
  return text.split("`").map((part, place) => (place % 2 ? element("code", {}, part) : part));
}

/** Schemas of the OpenAPI document: what a value may be, in words, and an example of it. */

/** The schema that a reference names, or the schema itself. */
export function resolved(schema, document) {
  const name = schema?.$ref?.split("/").pop();
  return name ? document.components.schemas[name] ?? {} : schema ?? {};
}

/** A schema's type in a few words. */
export function typeOf(schema = {}) {
  if (schema.$ref) return schema.$ref.split("/").pop();
  const options = schema.anyOf ?? schema.oneOf;
  if (options) return options.map(typeOf).join(" or ");
  if (schema.enum) return schema.enum.map(String).join(" or ");
  return schema.type === "array" ? `list of ${typeOf(schema.items)}` : [schema.type ?? "anything"].flat().join(" or ");
}

/** The fields of an object: `[name, type, description, whether it is required]`. */
export function fieldsOf(schema, document) {
  const { properties = {}, required = [] } = resolved(schema, document);
  return Object.entries(properties).map(([name, field]) => [name, typeOf(field), descriptionOf(field), required.includes(name)]);
}

function descriptionOf({ description, anyOf = [] }) {
  return description ?? anyOf.find((option) => option.description)?.description ?? "";
}

/** An example of a body: the document's own, else its required fields; known values by name. */
export function exampleOf(content, document, known) {
  if (typeof content.example === "string") return content.example;
  if (content.example) return JSON.stringify(content.example, null, 1);
  const required = fieldsOf(content.schema, document).filter(([, , , isRequired]) => isRequired);
  return JSON.stringify(Object.fromEntries(required.map(([name]) => [name, known[name] ?? ""])), null, 1);
}

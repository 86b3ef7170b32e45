/** A request as a command of curl, and as Python; the key itself is never written out. */

/** The media type whose body is a file of a form. */
export const FORM = "multipart/form-data";
const FILE = "test.jsonl";

/** The command for `{ method, url, type, body, hasKey }`; a form sends the file `test.jsonl`. */
export function curlOf({ method, url, type, body, hasKey }) {
  const usual = body === undefined ? "GET" : "POST";
  return [
    `curl ${quoted(url)}`,
    method !== usual && `-X ${method}`,
    hasKey && '-H "authorization: Bearer $LABELSERVE_KEY"',
    ...(body === undefined ? [] : sentByCurl(type, body)),
  ].filter(Boolean).join(" \\\n  ");
}

function sentByCurl(type, body) {
  if (type === FORM) return [`-F file=@${FILE}`];
  return [`-H ${quoted(`content-type: ${type}`)}`, `--data-binary ${quoted(body)}`];
}

/** The same in Python, with httpx. */
export function pythonOf({ method, url, type, body, hasKey }) {
  const hasText = body !== undefined && type !== FORM;
  const headers = [
    hasText && `"content-type": ${JSON.stringify(type)}`,
    hasKey && '"authorization": f"Bearer {os.environ[\'LABELSERVE_KEY\']}"',
  ].filter(Boolean);
  const lines = [
    JSON.stringify(method),
    JSON.stringify(url),
    headers.length > 0 && `headers={${headers.join(", ")}}`,
    hasText && `content=${literal(body)}`,
    body !== undefined && !hasText && `files={"file": open("${FILE}", "rb")}`,
  ].filter(Boolean).map((line) => `    ${line},\n`);
  return `${hasKey ? "import os\n\n" : ""}import httpx\n\n`
    + `answer = httpx.request(\n${lines.join("")})\nprint(answer.status_code, answer.text)`;
}

/** A string of Python, over several lines where that is safe. */
const literal = (text) => (/"""|"$|\\/.test(text) ? JSON.stringify(text) : `"""${text}"""`);

/** A word for a POSIX shell. */
const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

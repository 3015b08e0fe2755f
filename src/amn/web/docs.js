// Draws the OpenAPI schema of this server; nothing is loaded from elsewhere.

import { element } from "./dom.js";
import { headers } from "./client.js";

const REFUSED = "400"; // and above
const MAX_SHOWN = 20000; // characters of a reply; a stream of events never ends by itself

// A body with what is needed, as the schema's own examples have it.
function sample(schema) {
  const needed = schema.required ?? [];
  return Object.fromEntries(needed.map((name) => [name, schema.properties[name].examples?.[0]]));
}

function typeOf(schema = {}) {
  if (schema.$ref) return schema.$ref.split("/").at(-1).replace(/Out$/, "");
  if (schema.anyOf) return [...new Set(schema.anyOf.map(typeOf))].join(" or ");
  if (schema.type === "array") return `list of ${typeOf(schema.items)}`;
  if (schema.type === "object") return schema.additionalProperties ? `map to ${typeOf(schema.additionalProperties)}` : "object";
  return { string: "text", integer: "integer", number: "number", boolean: "true or false", null: "null" }[schema.type] ?? "anything";
}

const bounds = (schema) => {
  const names = { minimum: "from", exclusiveMinimum: "above", maximum: "to", maxLength: "characters at most", maxItems: "at most" };
  const parts = [schema, ...(schema.anyOf ?? [])];
  return parts.flatMap((part) => Object.entries(names).filter(([key]) => part[key] !== undefined)
    .map(([key, name]) => (key === "maxLength" ? `${part[key]} ${name}` : `${name} ${part[key]}`))).join(", ");
};

function table(rows) {
  const root = element("table");
  const body = element("tbody");
  for (const cells of rows) {
    const row = element("tr");
    row.append(...cells.map((cell, i) => {
      const made = element("td");
      made.append(i ? cell : element("code", "", cell));
      return made;
    }));
    body.append(row);
  }
  root.append(body);
  return root;
}

function fields(schema) {
  const needed = new Set(schema.required ?? []);
  return table(Object.entries(schema.properties ?? {}).map(([name, field]) => {
    const parts = [typeOf(field), bounds(field), needed.has(name) ? "" : "optional", field.description ?? ""];
    return [name, parts.filter(Boolean).join("; ")];
  }));
}

// Text that may be wider than its frame: keys must reach it to scroll it.
function scrolling(className, text) {
  const made = element("pre", className, text);
  made.tabIndex = 0;
  return made;
}

function curl(method, path, body) {
  const verb = method === "GET" ? "" : ` -X ${method}`;
  const data = body ? ` \\\n  -H 'content-type: application/json' -d '${JSON.stringify(body)}'` : "";
  const query = path === "/generate" ? "?task=1&seed=0" : "";
  return `curl${verb} ${location.origin}${path}${query}${data}`;
}

function route(path, method, operation, schemas) {
  const root = element("section", "card");
  const title = element("h2");
  title.append(element("span", "method", method.toUpperCase()), element("code", "", path));
  root.append(title, element("p", "", operation.description ?? operation.summary));
  const body = operation.requestBody?.content["application/json"]?.schema.$ref?.split("/").at(-1);
  if (body) root.append(element("h3", "", "Body"), fields(schemas[body]));
  const query = (operation.parameters ?? []).filter((parameter) => parameter.in === "query");
  if (query.length) root.append(element("h3", "", "Query"), table(query.map((q) => [q.name, `${typeOf(q.schema)}; ${bounds(q.schema)}`])));
  const replies = Object.entries(operation.responses);
  root.append(element("h3", "", "Replies"), table(replies.filter(([code]) => code < REFUSED).map(([code, reply]) => replyRow(code, reply))));
  root.append(refusals(replies.filter(([code]) => code >= REFUSED)));
  const given = body && sample(schemas[body]);
  root.append(scrolling("", curl(method.toUpperCase(), path, given)));
  root.append(trial(path, method.toUpperCase(), operation.parameters ?? [], given));
  return root;
}

// A form that sends the request and shows the reply as it comes.
function trial(path, method, parameters, given) {
  const root = element("details");
  const form = element("form", "trial");
  const inputs = parameters.filter((p) => p.in !== "cookie").map((p) => [p, field(form, p.name, p.schema?.default ?? p.example ?? "")]);
  const body = given && field(form, "body", JSON.stringify(given, null, 1), "textarea");
  const send = element("button", "", "Send");
  const stop = element("button", "", "Stop");
  stop.type = "button";
  const shown = scrolling("reply");
  shown.setAttribute("aria-live", "polite");
  form.append(send, stop, shown);
  let abort = new AbortController();
  stop.addEventListener("click", () => abort.abort());
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    abort.abort();
    abort = new AbortController();
    attempt(request(path, method, inputs, body), shown, abort.signal);
  });
  root.append(element("summary", "", "Try it"), form);
  return root;
}

function field(form, name, value, kind = "input") {
  const label = element("label", "", `${name} `);
  const input = element(kind);
  input.value = value;
  if (kind === "textarea") input.rows = Math.min(12, String(value).split("\n").length + 1);
  label.append(input);
  form.append(label);
  return input;
}

function request(path, method, inputs, body) {
  const at = (place) => inputs.filter(([p, input]) => p.in === place && input.value);
  const filled = at("path").reduce((text, [p, input]) => text.replace(`{${p.name}}`, encodeURIComponent(input.value)), path);
  const query = new URLSearchParams(at("query").map(([p, input]) => [p.name, input.value]));
  const own = Object.fromEntries(at("header").map(([p, input]) => [p.name, input.value]));
  return [query.size ? `${filled}?${query}` : filled, { method, body: body?.value, headers: { ...headers(body?.value), ...own } }];
}

async function attempt([address, options], shown, signal) {
  shown.textContent = "…";
  try {
    const response = await fetch(address, { ...options, signal });
    shown.textContent = `${response.status} ${response.statusText}\n`;
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    for (let part = await reader?.read(); part && !part.done; part = await reader.read()) {
      shown.textContent = (shown.textContent + part.value).slice(0, MAX_SHOWN);
    }
  } catch (error) {
    if (error.name !== "AbortError") shown.textContent = `The server does not answer: ${error.message}`;
  }
}

function replyRow(code, reply) {
  const kinds = Object.entries(reply.content ?? {}).map(([type, { schema }]) => {
    const name = schema && Object.keys(schema).length ? typeOf(schema) : "";
    return type === "application/json" ? name : type;
  });
  return [code, [reply.description.replace("Successful Response", "Done"), ...kinds].filter(Boolean).join("; ")];
}

// The problems that a route may have; the list of problems says what they are.
function refusals(replies) {
  const root = element("p", "refusals muted", "Problems: ");
  for (const [code, reply] of replies) {
    const link = element("a", "", code);
    Object.assign(link, { href: `#${code}`, title: reply.description });
    root.append(link, " ");
  }
  return root;
}

function shapes(schemas) {
  const root = element("section", "card");
  root.append(element("h2", "", "Schemas of replies"));
  for (const [name, schema] of Object.entries(schemas).filter(([name]) => !/(Body|Problem)$/.test(name))) {
    root.append(element("h3", "", name.replace(/Out$/, "")), fields(schema));
  }
  return root;
}

// What the `type` of a problem points to.
function problems(operations) {
  const root = element("section", "card");
  root.append(element("h2", "", "Problems"));
  const found = new Map(operations.flatMap((operation) => Object.entries(operation.responses)).filter(([code]) => code >= REFUSED));
  const rows = table([...found].sort().map(([code, reply]) => [code, reply.description]));
  [...found.keys()].sort().forEach((code, i) => { rows.rows[i].id = code; });
  root.append(rows);
  return root;
}

async function draw() {
  const { paths, components } = await (await fetch("/openapi.json")).json();
  const routes = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => route(path, method, operation, components.schemas)));
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods));
  document.getElementById("routes").replaceChildren(...routes, shapes(components.schemas), problems(operations));
}

draw();

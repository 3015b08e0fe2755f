// Draws the OpenAPI schema of this server; nothing is loaded from elsewhere.

import { element } from "./banks.js";

const SAMPLES = {
  AnswerBody: { story: "Mary moved to the bathroom. John went to the hallway.", question: "Where is Mary?" },
  MemoryBody: { questions: ["Where is Mary?"] },
  SentencesBody: { sentences: ["Mary moved to the bathroom."] },
  AskBody: { deadline_ms: 50 },
};

function typeOf(schema = {}) {
  if (schema.$ref) return schema.$ref.split("/").at(-1).replace(/Out$/, "");
  if (schema.anyOf) return [...new Set(schema.anyOf.map(typeOf))].join(" or ");
  if (schema.type === "array") return `list of ${typeOf(schema.items)}`;
  if (schema.type === "object") return schema.additionalProperties ? `map to ${typeOf(schema.additionalProperties)}` : "object";
  return { string: "text", integer: "whole number", number: "number", boolean: "true or false", null: "null" }[schema.type] ?? "anything";
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
  root.append(element("h3", "", "Replies"), table(Object.entries(operation.responses).map(([code, reply]) => replyRow(code, reply))));
  root.append(element("pre", "", curl(method.toUpperCase(), path, SAMPLES[body])));
  return root;
}

function replyRow(code, reply) {
  const kinds = Object.entries(reply.content ?? {}).map(([type, { schema }]) => {
    const name = schema && Object.keys(schema).length ? typeOf(schema) : "";
    return type === "application/json" ? name : type;
  });
  return [code, [reply.description, ...kinds].filter(Boolean).join("; ")];
}

function shapes(schemas) {
  const root = element("section", "card");
  root.append(element("h2", "", "Shapes of replies"));
  for (const [name, schema] of Object.entries(schemas).filter(([name]) => name.endsWith("Out"))) {
    root.append(element("h3", "", name.replace(/Out$/, "")), fields(schema));
  }
  return root;
}

async function draw() {
  const { paths, components } = await (await fetch("/openapi.json")).json();
  const routes = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => route(path, method, operation, components.schemas)));
  document.getElementById("routes").replaceChildren(...routes, shapes(components.schemas));
}

draw();

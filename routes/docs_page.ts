/**
 * The page of `GET /docs`, rendered from the OpenAPI document.
 *
 * @module
 */
import { html, raw } from "hono/html";
import type { HtmlEscapedString } from "hono/utils/html";
import type { ServiceLimits } from "./limits.ts";

type Html = HtmlEscapedString | Promise<HtmlEscapedString>;
type Json = Readonly<Record<string, unknown>>;

/** The page. */
export function docsPage(document: Json, limits: ServiceLimits): Html {
  const info = document.info as { title: string; version: string; description: string };
  const operations = Object.entries(document.paths as Record<string, Record<string, Json>>).flatMap(
    ([path, methods]) => Object.entries(methods).map(([method, operation]) => ({ method, path, operation })),
  );
  return html`
    <!DOCTYPE html>
    <html lang="en">
      <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <title>${info.title} HTTP API</title>
        <link rel="stylesheet" href="/docs/style.css">
      </head>
      <body>
        <main>
    <h1>${info.title} HTTP API <small>${info.version}</small></h1>
    <p>${info.description} <a href="/openapi.json">openapi.json</a></p>
    <nav aria-label="Operations"><ul>
    ${operations.map(({ method, path, operation }) =>
      html`<li><a href="#${operation.operationId}"><code>${method.toUpperCase()} ${path}</code></a> ${operation.summary}</li>`
    )}
    </ul></nav>
    ${operations.map(({ method, path, operation }) => section(method, path, operation))}
    ${errorsSection()}
    ${limitsSection(limits)}
    ${schemasSection(document)}
        </main>
      </body>
    </html>
  `;
}

function section(method: string, path: string, operation: Json): Html {
  const parameters = (operation.parameters ?? []) as Json[];
  const body = (operation.requestBody as { content?: Record<string, Json> } | undefined)?.content ?? {};
  const responses = operation.responses as Record<string, { description: string; content?: Record<string, Json> }>;
  return html`<section aria-labelledby="${operation.operationId}">
<h2 id="${operation.operationId}"><code>${method.toUpperCase()} ${path}</code></h2>
<p>${operation.summary}.</p>
${operation.description === undefined ? "" : html`<p>${operation.description}</p>`}
${
    parameters.length === 0 ? "" : html`
      <h3>Parameters</h3>
      <dl>${parameters.map(parameterEntry)}</dl>
    `
  }
${Object.entries(body).map(([type, content]) => requestContent(method, path, type, content))}
<h3>Answers</h3>
<dl>${
    Object.entries(responses).map(([status, { description, content }]) =>
      html`
        <dt>${status}</dt>
        <dd>${description}${Object.entries(content ?? {}).map(([type, { schema }]) =>
          html`
            · <code>${type}</code>${schemaLink(schema as Json | undefined)}
          `
        )}</dd>
      `
    )
  }</dl>
</section>`;
}

function parameterEntry(parameter: Json): Html {
  const { enum: choices } = (parameter.schema ?? {}) as { enum?: readonly string[] };
  return html`
    <dt><code>${parameter.name}</code></dt>
    <dd>${parameter.description ?? ""}${choices === undefined ? "" : html`
      (${choices.join(", ")})
    `}</dd>
  `;
}

function requestContent(method: string, path: string, type: string, content: Json): Html {
  const examples = (content.examples ?? {}) as Record<string, { summary?: string; value: unknown }>;
  return html`<h3>Body: <code>${type}</code>${schemaLink(content.schema as Json | undefined)}</h3>
${
    Object.entries(examples).map(([name, { summary, value }]) =>
      html`
        <p>${summary ?? name}:</p>
        <pre><code>curl -X ${method.toUpperCase()} $HOST${path} -d '${JSON.stringify(value, null, 2)}'</code></pre>
      `
    )
  }`;
}

function schemaLink(schema: Json | undefined): Html | string {
  const name = /^#\/components\/schemas\/(\w+)$/.exec(String(schema?.$ref ?? ""))?.[1];
  return name === undefined ? "" : html`
    · <a href="#schema-${name}">${name}</a>
  `;
}

function errorsSection(): Html {
  return html`
    <section aria-labelledby="errors">
      <h2 id="errors">Errors</h2>
      <p>Every error is <code>application/problem+json</code> (RFC 9457): <code>status</code>, <code>code</code> for programs,
    <code>detail</code> for people, <code>parameters</code>, and <code>pointer</code>, a JSON pointer to the offending place.
    Settings that Spark refuses are answered with 422 and Spark's own message.</p>
    </section>
  `;
}

function limitsSection(limits: ServiceLimits): Html {
  return html`
    <section aria-labelledby="limits">
      <h2 id="limits">Limits of this service</h2>
      <dl>${Object.entries(limits).map(([name, value]) =>
        html`
          <dt><code>${name}</code></dt>
          <dd>${value.toLocaleString("en-US")}</dd>
        `
      )}</dl>
    </section>
  `;
}

function schemasSection(document: Json): Html {
  const { schemas } = document.components as { schemas: Record<string, Json> };
  return html`<section aria-labelledby="schemas"><h2 id="schemas">Schemas</h2>
${
    Object.entries(schemas).map(([name, schema]) =>
      html`
        <details id="schema-${name}">
          <summary>${name}</summary>
          <pre><code>${linkedJson(schema)}</code></pre>
        </details>
      `
    )
  }</section>`;
}

/** A schema as text, its references as links. */
function linkedJson(schema: Json): HtmlEscapedString {
  const escaped = JSON.stringify(schema, null, 2).replaceAll("&", "&amp;").replaceAll("<", "&lt;");
  return raw(escaped.replace(/"#\/components\/schemas\/(\w+)"/g, '<a href="#schema-$1">"$1"</a>'));
}

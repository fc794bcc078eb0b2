type Json = Readonly<Record<string, unknown>>

/** A page that shows an OpenAPI document, without any script and without anything from elsewhere. */
export function docsPage(document: Json): string {
  const { info, paths } = document as { info: { title: string; version: string }; paths: Json }
  const sections = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods as Json).map(([method, operation]) =>
      section(method.toUpperCase(), path, operation as Json),
    ),
  )
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${text(info.title)} API</title>
<style>
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
code, pre { font: 13px/1.4 ui-monospace, monospace; }
pre { overflow: auto; background: #8881; padding: .75rem; border-radius: 6px; }
summary { cursor: pointer; padding: .2rem 0; }
b { display: inline-block; min-width: 4.5rem; }
</style></head><body>
<h1>${text(info.title)} API ${text(info.version)}</h1>
<p>Send <code>Authorization: Bearer TOKEN</code> with every request over TCP. The same document for programs:
<a href="/openapi.json">/openapi.json</a>.</p>
${sections.join('\n')}
</body></html>
`
}

function section(method: string, path: string, operation: Json): string {
  const { summary, description, parameters, requestBody, responses } = operation
  const shown = JSON.stringify({ parameters, requestBody, responses }, null, 2)
  return `<details><summary><b>${text(method)}</b> <code>${text(path)}</code> ${text(summary)}</summary>
<p>${text(description)}</p><pre>${text(shown)}</pre></details>`
}

const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
}

function text(given: unknown): string {
  return String(given ?? '').replaceAll(/[&<>"]/g, (character) => escapes[character] ?? '')
}

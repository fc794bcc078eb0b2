import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import { serveHome } from './support/served-home.ts'

const home = await serveHome('service-fuzz')
afterAll(() => home[Symbol.asyncDispose]())
const seconds = Number(process.env.FORKPOINT_TEST_SECONDS ?? 5)

type Schema = Readonly<Record<string, unknown>> & {
  readonly type?: string
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly Schema[]
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
}

interface Parameter {
  readonly name: string
  readonly in: string
  readonly schema: Schema
}

interface Operation {
  readonly parameters: readonly Parameter[]
  readonly requestBody?: {
    readonly content: Readonly<Record<string, { readonly schema?: Schema }>>
  }
}

/** Values that fit a schema, nearly fit, or do not fit at all. */
function fromSchema(schema: Schema): fc.Arbitrary<unknown> {
  const wild = fc.jsonValue({ maxDepth: 2 })
  return fc.oneof({ weight: 6, arbitrary: fitting(schema) }, { weight: 1, arbitrary: wild })
}

function fitting(schema: Schema): fc.Arbitrary<unknown> {
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum)
  if (schema.anyOf !== undefined) return fc.oneof(...schema.anyOf.map(fromSchema))
  switch (schema.type) {
    case 'boolean':
      return fc.boolean()
    case 'number':
    case 'integer':
      return fc.oneof(fc.integer({ min: -1, max: 3 }), fc.double())
    case 'array':
      return fc.array(fromSchema(schema.items ?? {}), { maxLength: 3 })
    case 'object':
      return schema.properties === undefined
        ? fc.dictionary(fc.string(), fc.string(), { maxKeys: 3 })
        : fc.record(objectOf(schema.properties), { requiredKeys: [] })
    case 'string':
      return words
    default:
      return fc.jsonValue({ maxDepth: 2 })
  }
}

function objectOf(properties: Readonly<Record<string, Schema>>) {
  return Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [name, fromSchema(schema)]),
  )
}

/** Nothing that ends the target or reads endlessly, and nothing that takes long: those have tests of their own. */
const skipped = new Set([
  '/v1/environments POST',
  '/v1/environments/{id} DELETE',
  '/v1/environments/{id}/fork POST',
  '/v1/snapshots/{id}/fork POST',
  '/v1/environments/{id}/files/watch GET',
  '/v1/attach POST',
  '/v1/events GET',
])

const labels = { tenant: 'fuzz' }
const env = await home.fp.create({ name: 'target', labels })
const other = await home.fp.create({ name: 'other' })
const words = fc.oneof(
  fc.string({ maxLength: 40 }),
  fc.constantFrom(
    'target',
    env.id,
    'e0000000000',
    '../..',
    '%2e%2e',
    '\u0000',
    '/tmp',
    '__proto__',
  ),
)

test(`${seconds} s of requests from its own description: no failure of the daemon`, async () => {
  const token = await home.token({ scope: 'admin', labels })
  const { paths } = (await (await home.fetch('/openapi.json')).json()) as {
    paths: Record<string, Record<string, Operation>>
  }
  const all = Object.entries(paths)
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({
        path,
        method: method.toUpperCase(),
        operation,
      })),
    )
    .filter(({ path, method }) => !skipped.has(`${path} ${method}`))
  const requests = fc.constantFrom(...all).chain((route) =>
    fc.record({
      route: fc.constant(route),
      inPath: fc.array(words, { minLength: 3, maxLength: 3 }),
      query: fc.record(
        objectOf(
          Object.fromEntries(
            route.operation.parameters
              .filter((each) => each.in === 'query')
              .map(({ name, schema }) => [name, schema]),
          ),
        ),
        { requiredKeys: [] },
      ),
      body: fromSchema(Object.values(route.operation.requestBody?.content ?? {})[0]?.schema ?? {}),
    }),
  )
  let sent = 0
  // Some are never answered, such as one for a command that does not end. Those would keep the daemon from ending.
  const over = new AbortController()
  const property = fc.asyncProperty(requests, async ({ route, inPath, query, body }) => {
    const values = [...inPath]
    const path = route.path.replaceAll(/\{\w+\}/g, () =>
      encodeURIComponent(values.shift() || 'empty'),
    )
    const given = Object.entries(query).map(([key, value]): [string, string] => [
      key,
      typeof value === 'string' ? value : (JSON.stringify(value) ?? ''),
    ])
    const hasBody = route.method === 'POST' || route.method === 'PUT'
    const response = await home.fetch(`${path}?${new URLSearchParams(given)}`, {
      method: route.method,
      token,
      signal: over.signal,
      ...(hasBody && { raw: JSON.stringify(body) ?? '' }),
    })
    const text = await response.text()
    sent += 1
    const asked = `${route.method} ${path} ${JSON.stringify(body)}: ${response.status} ${text}`
    expect(response.status, asked).toBeLessThan(500)
    if (response.status < 400) return
    expect(JSON.parse(text).error, asked).toMatchObject({
      code: expect.any(String),
      requestId: expect.any(String),
    })
  })
  try {
    await fc.assert(property, {
      numRuns: 100_000,
      interruptAfterTimeLimit: seconds * 1000,
      markInterruptAsFailure: false,
    })
  } finally {
    over.abort()
  }
  expect(sent).toBeGreaterThan(0)
  expect((await other.info()).status).toBe('running')
})

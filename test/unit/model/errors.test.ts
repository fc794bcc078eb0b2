import { expect, test } from 'vitest'
import {
  BackendError,
  ConflictError,
  exitCodeOf,
  ForkpointError,
  InvalidInputError,
  NotFoundError,
  PrerequisiteError,
  ResourceError,
  TimeoutError,
  toJson,
  UnsupportedError,
} from '../../../src/model/errors.ts'

test('scripts can tell failures apart by exit code', () => {
  const codes = [
    new Error('anything'),
    new BackendError('x'),
    new TimeoutError('x'),
    new ResourceError('x'),
    new InvalidInputError('x'),
    new NotFoundError('x'),
    new ConflictError('x'),
    new UnsupportedError('pause', 'x'),
    new PrerequisiteError('x'),
    'thrown text',
  ].map(exitCodeOf)
  expect(codes).toEqual([1, 1, 1, 1, 2, 3, 4, 5, 6, 1])
})

test('an error carries its stable code, its remedy and its cause', () => {
  const cause = new Error('why')
  const error = new NotFoundError('no environment "x"', { remedy: 'did you mean y?', cause })
  expect(error).toBeInstanceOf(ForkpointError)
  expect(error).toMatchObject({ name: 'NotFoundError', code: 'not_found', cause })
  expect(toJson(error)).toEqual({
    code: 'not_found',
    message: 'no environment "x"',
    remedy: 'did you mean y?',
  })
})

test('an unsupported operation names the capability that is missing', () => {
  const error = new UnsupportedError('processes', 'docker cannot snapshot processes')
  expect(error.capability).toBe('processes')
  expect(toJson(error).detail).toEqual({ capability: 'processes' })
})

test('a backend failure passes on the last output of the tool and the path of its log', () => {
  const error = new BackendError('criu dump failed', { lastWords: 'oops', logPath: '/x/dump.log' })
  expect(error).toMatchObject({ lastWords: 'oops', logPath: '/x/dump.log' })
  expect(toJson(error).detail).toEqual({ lastWords: 'oops', logPath: '/x/dump.log' })
  expect(toJson(new BackendError('x'))).toEqual({ code: 'backend_failed', message: 'x' })
})

test('an unexpected error is shown without its stack', () => {
  expect(toJson(new TypeError('boom'))).toEqual({ code: 'internal', message: 'boom' })
  expect(toJson('boom')).toEqual({ code: 'internal', message: 'boom' })
})

import { InvalidInputError } from '../../model/errors.ts'
import { bytesOrText } from '../../model/text/bytes.ts'
import { quote } from '../../model/text/quote.ts'
import { type Input, value } from './checked.ts'

/** Text, bytes, or a stream of them. */
export const data: Input<Buffer | string | AsyncIterable<Buffer | string>> = value(
  'text, bytes, or an async iterable of them',
  (given) => bytesOrText(given) ?? (isAsyncIterable(given) ? checkedChunks(given) : undefined),
)

export const chunk: Input<Buffer | string> = value('text or bytes', bytesOrText)

function isAsyncIterable(given: unknown): given is AsyncIterable<unknown> {
  return typeof given === 'object' && given !== null && Symbol.asyncIterator in given
}

/** A stream can yield anything, and only when it is read. */
async function* checkedChunks(stream: AsyncIterable<unknown>): AsyncGenerator<Buffer | string> {
  for await (const given of stream) {
    const good = bytesOrText(given)
    if (good === undefined) {
      throw new InvalidInputError(
        `the stream yielded something that is neither text nor bytes: ${quote(given)}`,
        {
          remedy: 'yield only text or bytes',
        },
      )
    }
    yield good
  }
}

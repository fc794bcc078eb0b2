import * as z from 'zod/mini'
import { fields, options } from '../inputs/checked.ts'
import * as e from '../inputs/environment-inputs.ts'
import { token } from '../inputs/token-inputs.ts'
import { newToken, tokenInfo } from './data/token.ts'
import { operation } from './operation.ts'

const reference = { reference: e.reference }

/** Who may use a daemon over the network. */
export const tokenOperations = {
  'token.create': operation('admin', options(token), newToken),
  /** oldest first */
  'token.list': operation('admin', options({}), z.array(tokenInfo)),
  /** the same token with another secret; the old one is refused from now on */
  'token.rotate': operation('admin', fields(reference, {}), newToken),
  'token.remove': operation('admin', fields(reference, {}), z.null()),
}

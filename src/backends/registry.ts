import type { BackendName } from '../model/environment.ts'
import { UnsupportedError } from '../model/errors.ts'
import type { Backend, BackendContext } from './backend.ts'
import { nativeBackend } from './native/native-backend.ts'

const makers: Partial<Record<BackendName, (context: BackendContext) => Backend>> = {
  native: nativeBackend,
}

/** Those of this version. */
export const backendNames = Object.keys(makers) as readonly BackendName[]

/** What an environment is made with that asks for none. */
export const defaultBackend: BackendName = 'native'

export function openBackend(name: BackendName, context: BackendContext): Backend {
  const make = makers[name]
  if (make) return make(context)
  throw new UnsupportedError('filesystem', `the ${name} backend is not part of this version`, {
    remedy: `use one of: ${backendNames.join(', ')}`,
  })
}

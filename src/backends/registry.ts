import type { BackendName } from '../model/environment.ts'
import { UnsupportedError } from '../model/errors.ts'
import type { Backend, BackendContext } from './backend.ts'
import { nativeBackend } from './native/native-backend.ts'

const makers: Partial<Record<BackendName, (context: BackendContext) => Backend>> = {
  native: nativeBackend,
}

export function openBackend(name: BackendName, context: BackendContext): Backend {
  const make = makers[name]
  if (make) return make(context)
  throw new UnsupportedError('filesystem', `the ${name} backend is not part of this version`, {
    remedy: `use one of: ${Object.keys(makers).join(', ')}`,
  })
}

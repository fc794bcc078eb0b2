import type { BackendName } from '../model/environment.ts'
import { InvalidInputError } from '../model/errors.ts'
import { quote } from '../model/text/quote.ts'
import type { BackendMaker } from './backend.ts'
import {
  dockerMaker,
  dockerProcessesMaker,
  podmanCriuMaker,
  podmanMaker,
} from './containers/containers-backend.ts'
import { criuMaker } from './criu/criu-backend.ts'
import { gvisorMaker } from './gvisor/gvisor-backend.ts'
import { nativeMaker } from './native/native-backend.ts'

/** The backends that an engine can make environments with. */
export interface Registry {
  readonly makers: Readonly<Record<BackendName, BackendMaker>>
  /** used if no backend is named */
  readonly default: BackendName
}

/** The backends of this version. */
export const productRegistry: Registry = {
  makers: {
    native: nativeMaker,
    docker: dockerMaker,
    'docker-processes': dockerProcessesMaker,
    podman: podmanMaker,
    'podman-criu': podmanCriuMaker,
    gvisor: gvisorMaker,
    criu: criuMaker,
  },
  default: 'native',
}

export function makerOf({ makers }: Registry, name: BackendName): BackendMaker {
  const maker = Object.hasOwn(makers, name) ? makers[name] : undefined
  if (maker !== undefined) return maker
  const names = Object.keys(makers)
  throw new InvalidInputError(`there is no backend ${quote(name)}`, {
    remedy: `use one of: ${names.join(', ')}`,
    detail: { backend: name, backends: names },
  })
}

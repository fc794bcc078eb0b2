// The room rules of the code: who may import whom. CONTRIBUTING.md has them in words.

/** A rule that `room` imports nothing of ours but what matches `allowed`. */
function room(name, from, allowed) {
  return {
    name,
    severity: 'error',
    comment: `${from} may only import ${allowed}`,
    from: { path: from },
    to: { path: '^(src|test|web/src)/', pathNot: allowed },
  }
}

module.exports = {
  forbidden: [
    {
      name: 'no-cycles',
      severity: 'error',
      comment: 'a cycle that a type import closes is no cycle at run time',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    { name: 'resolvable', severity: 'error', from: {}, to: { couldNotResolve: true } },
    {
      name: 'runtime-dependencies-only',
      severity: 'error',
      comment: 'what src needs at run time belongs into dependencies',
      from: { path: '^src/' },
      to: {
        dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'],
        // Whoever uses an integration has its framework, which is also there for the tests.
        dependencyTypesNot: ['type-only', 'npm-peer'],
      },
    },

    room('model', '^src/model/', '^src/model/'),
    room('linux', '^src/linux/', '^src/(model|linux)/'),
    room('store', '^src/store/', '^src/(model|linux|store)/'),
    room('agent', '^src/agent/', '^src/(model|agent)/'),
    room('caller', '^src/api/host/', '^src/(model|linux|agent|api/host)/'),
    room('criu', '^src/criu/', '^src/(model|linux|agent|criu)/'),
    room(
      'images',
      '^src/images/',
      '^src/(model|linux|images)/|^src/backends/(backend|facets)\\.ts$',
    ),
    room('config', '^src/config/', '^src/(model|config)/'),
    room(
      'backend-interface',
      '^src/backends/(backend|facets)\\.ts$',
      '^src/model/|^src/backends/(backend|facets)\\.ts$',
    ),
    room('backend-registry', '^src/backends/registry\\.ts$', '^src/(model|agent|config|backends)/'),
    room(
      'one-backend',
      '^src/backends/([^/]+)/',
      '^src/(model|linux|agent|criu|images)/|^src/backends/($1/|(backend|facets)\\.ts$)',
    ),
    room('handles', '^src/api/(handles/|control\\.ts)', '^src/(model|agent|api)/'),
    room('inputs', '^src/api/inputs/', '^src/(model|agent)/|^src/api/inputs/'),
    room('contract', '^src/api/contract/', '^src/(model/|api/(contract|inputs)/)'),
    room(
      'engine',
      '^src/engine/',
      '^src/(model|linux|store|agent|config|engine|api)/|^src/backends/(backend|facets|registry)\\.ts$',
    ),
    {
      name: 'engine-knows-no-handles',
      severity: 'error',
      comment: 'handles stand above the waist, the engine below it',
      from: { path: '^src/engine/' },
      to: { path: '^src/api/handles/' },
    },
    room('log', '^src/log/', '^src/(model|log)/'),
    room('opening', '^src/forkpoint\\.ts$', '^src/(model|config|engine|api|client|log)/'),
    room(
      'daemon',
      '^src/serve\\.ts$',
      '^src/(model|engine|server|compat|log)/|^src/forkpoint\\.ts$',
    ),
    room('one-wire', '^src/compat/([^/]+)/', '^src/(model|agent|api)/|^src/compat/$1/'),
    room('manager', '^src/manager/', '^src/(model|api|manager)/|^src/forkpoint\\.ts$'),
    room('client', '^src/client/', '^src/(model|config|api|client)/'),
    room('server', '^src/server/', '^src/(model|agent|api|server)/|^src/mcp/http\\.ts$'),
    room('integrations', '^src/integrations/', '^src/(model|agent|api|integrations)/'),
    // forkd's tools evaluate in the interpreter that its wire keeps.
    room('mcp', '^src/mcp/', '^src/(model|agent|api|mcp)/|^src/compat/forkd/interpreter/'),
    room(
      'cli',
      '^src/cli/',
      '^src/((index|serve)\\.ts$|(model|config|bench|cli|client)/)|^src/mcp/(stdio|options)\\.ts$',
    ),
    // It runs in a browser: of the program, it has the client alone.
    room('web', '^web/src/', '^web/src/|^src/client/web/client\\.ts$'),
    room('public-api-users', '^src/(bench|search)/', '^src/(index\\.ts$|model/|$1/)'),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    // Type imports are imports too: a room that knows another's types knows the room.
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
    },
  },
}

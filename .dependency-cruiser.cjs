// The room rules of the code: who may import whom. CONTRIBUTING.md has them in words.

/** A rule that `room` imports nothing of ours but what matches `allowed`. */
function room(name, from, allowed) {
  return {
    name,
    severity: 'error',
    comment: `${from} may only import ${allowed}`,
    from: { path: from },
    to: { path: '^(src|test)/', pathNot: allowed },
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
        dependencyTypesNot: ['type-only'],
      },
    },

    room('model', '^src/model/', '^src/model/'),
    room('linux', '^src/linux/', '^src/(model|linux)/'),
    room('store', '^src/store/', '^src/(model|linux|store)/'),
    room('agent', '^src/agent/', '^src/(model|agent)/'),
    room('criu', '^src/criu/', '^src/(model|linux|agent|criu)/'),
    room('config', '^src/config/', '^src/(model|config)/'),
    room('backend-interface', '^src/backends/backend\\.ts$', '^src/(model|agent|config)/'),
    room('backend-registry', '^src/backends/registry\\.ts$', '^src/(model|agent|config|backends)/'),
    room(
      'one-backend',
      '^src/backends/([^/]+)/',
      '^src/(model|linux|agent|criu|config)/|^src/backends/($1/|backend\\.ts$)',
    ),
    room(
      'engine',
      '^src/engine/',
      '^src/(model|linux|store|agent|config|engine)/|^src/backends/(backend|registry)\\.ts$',
    ),
    room('client', '^src/client/', '^src/(model|config|client)/'),
    room('cli', '^src/cli/', '^src/(index\\.ts$|(model|config|bench|cli)/)'),
    room('public-api-users', '^src/(bench|server|mcp|search)/', '^src/(index\\.ts$|model/|$1/)'),
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

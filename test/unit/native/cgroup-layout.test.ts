import { expect, test } from 'vitest'
import { readLayout } from '../../../src/backends/native/cell/cgroup-layout.ts'

const own = `cgroup /sys/fs/cgroup/memory cgroup rw,memory 0 0
cgroup /sys/fs/cgroup/freezer cgroup rw,freezer 0 0
cgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0
`
const others = `cgroup /tmp/yard/memory cgroup rw,memory 0 0
cgroup /tmp/yard/freezer cgroup rw,freezer 0 0
cgroup2 /tmp/yard/unified cgroup2 rw 0 0
`

const facts = { controllersOf: () => 'pids', bpf: 'built-in' } as const

test('hierarchies that another tool has mounted temporarily are not used', () => {
  const layout = readLayout(own + others, facts)
  expect(layout).toEqual(readLayout(own, facts))
  expect(layout.controllers.get('memory')).toEqual({ mount: '/sys/fs/cgroup/memory', version: 1 })
})

test('devices are limited by v2 if the kernel has BPF, otherwise by v1, otherwise not at all', () => {
  const v1 = 'cgroup /sys/fs/cgroup/devices cgroup rw,devices 0 0\n'
  const without = { ...facts, bpf: 'missing' } as const
  expect(readLayout(own + v1, facts).devices).toEqual({
    mount: '/sys/fs/cgroup/unified',
    version: 2,
  })
  expect(readLayout(own + v1, without).devices).toEqual({
    mount: '/sys/fs/cgroup/devices',
    version: 1,
  })
  expect(readLayout(own, without).devices).toBeNull()
})

import { expect, test } from 'vitest'
import { readLayout } from '../../../src/backends/native/cgroup-layout.ts'

const own = `cgroup /sys/fs/cgroup/memory cgroup rw,memory 0 0
cgroup /sys/fs/cgroup/freezer cgroup rw,freezer 0 0
cgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0
`
const others = `cgroup /tmp/yard/memory cgroup rw,memory 0 0
cgroup /tmp/yard/freezer cgroup rw,freezer 0 0
cgroup2 /tmp/yard/unified cgroup2 rw 0 0
`

test('hierarchies that another tool mounts for a while are not used', () => {
  const layout = readLayout(own + others, () => 'pids')
  expect(layout).toEqual(readLayout(own, () => 'pids'))
  expect(layout.controllers.get('memory')).toEqual({ mount: '/sys/fs/cgroup/memory', version: 1 })
})

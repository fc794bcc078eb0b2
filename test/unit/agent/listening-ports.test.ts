import { expect, test } from 'vitest'
import { listeningPorts } from '../../../src/agent/listening-ports.ts'

const head =
  '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode'

const row = (address: string, state: string) =>
  `   0: ${address} 00000000:0000 ${state} 00000000:00000000 00:00000000 00000000     0        0 1 1`

test('lists the ports that a connection to 127.0.0.1 reaches, each once and in order', () => {
  const v4 = [
    head,
    row('0100007F:1F90', '0A'),
    row('00000000:0050', '0A'),
    row('0100007F:1F91', '01'),
    row('0501A8C0:1F92', '0A'),
  ]
  const six = '0'.repeat(32)
  const v6 = [
    head,
    row(`${six}:0050`, '0A').replace('00000000:0000', `${six}:0000`),
    row(`0000000000000000FFFF00000100007F:170C`, '0A').replace('00000000:0000', `${six}:0000`),
    row(`00000000000000000000000001000000:1F93`, '0A').replace('00000000:0000', `${six}:0000`),
  ]
  expect(listeningPorts([v4.join('\n'), v6.join('\n')])).toEqual([80, 5900, 8080])
})

test('whatever else a file holds is no port', () => {
  expect(listeningPorts(['', 'nonsense\n\0', `${row('zz:zz', '0A')}`])).toEqual([])
})

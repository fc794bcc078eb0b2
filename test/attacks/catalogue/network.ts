import type { PromiseAttacks } from './types.ts'

export const networkPromises: readonly PromiseAttacks[] = [
  {
    promise: 'Sockets exist in five families only: unix, inet, inet6, packet, netlink route.',
    attacks: [
      'socket-vsock',
      'socket-vsock-datagram',
      'socket-xdp',
      'socket-alg',
      'socket-tipc',
      'socket-rds',
      'socket-bluetooth',
      'socket-can',
      'socket-key',
      'socket-smc',
      'socket-kcm',
      'socket-qrtr',
      'socket-sctp',
      'socket-mptcp',
      'netlink-audit',
      'netlink-uevent',
      'netlink-netfilter',
      'netlink-generic',
      'netlink-sock-diag',
      'netlink-xfrm',
      'netlink-connector',
    ],
  },
  {
    promise:
      'The network of the host can be neither reached nor overheard, and the environment’s own cannot be changed.',
    attacks: [
      'host-tcp',
      'host-tcp-any',
      'host-tcp-ipv6',
      'host-sniff',
      'interface-other',
      'interface-change',
      'interface-add',
      'socket-buffer-force',
      'tcp-repair',
    ],
  },
]

export const natPromises: readonly PromiseAttacks[] = [
  {
    promise: 'With `nat`, the host, other environments and link-local addresses are not reached.',
    attacks: ['nat-gateway', 'nat-host-address', 'nat-neighbour', 'nat-link-local'],
  },
  {
    promise: 'With `nat`, no packet leaves with the address of somebody else.',
    attacks: ['nat-forged-sender'],
  },
  {
    promise: 'With `nat`, an environment gets a bounded part of the host’s table of connections.',
    attacks: ['nat-connection-flood'],
  },
]

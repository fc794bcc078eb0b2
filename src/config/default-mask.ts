/** Credentials and histories in a person's home directory. */
const inHomes = [
  // keys and password stores
  '.ssh',
  '.gnupg',
  '.password-store',
  '.local/share/keyrings',
  '.config/op',
  '.config/sops',
  '.vault-token',
  // clouds and clusters
  '.aws',
  '.azure',
  '.config/gcloud',
  '.config/doctl',
  '.config/hcloud',
  '.config/rclone',
  '.oci',
  '.kube',
  '.docker/config.json',
  '.config/containers/auth.json',
  '.local/share/containers',
  '.local/share/docker',
  '.local/share/libvirt',
  '.terraform.d/credentials*',
  // forges, registries and services that take a token
  '.config/gh',
  '.config/glab-cli',
  '.git-credentials',
  '.config/git/credentials',
  '.netrc',
  '.npmrc',
  '.yarnrc.yml',
  '.pypirc',
  '.gem/credentials',
  '.cargo/credentials*',
  '.m2/settings*.xml',
  '.config/huggingface',
  '.cache/huggingface/token',
  // coding agents
  '.claude/.credentials.json',
  '.codex/auth.json',
  // databases
  '.pgpass',
  '.my.cnf',
  // browsers keep sessions and passwords
  '.mozilla',
  '.config/google-chrome',
  '.config/chromium',
  // people type secrets at prompts
  '.bash_history',
  '.zsh_history',
  '.local/share/fish/fish_history',
  '.python_history',
  '.psql_history',
  '.mysql_history',
  '.sqlite_history',
  '.rediscli_history',
  '.node_repl_history',
  '.lesshst',
  '.viminfo',
]

const ofTheMachine = [
  '/etc/ssh/ssh_host_*',
  '/etc/shadow',
  '/etc/shadow-',
  '/etc/gshadow',
  '/etc/gshadow-',
  '/etc/ssl/private',
  '/etc/letsencrypt',
  '/etc/wireguard',
  '/etc/openvpn',
  '/etc/NetworkManager/system-connections',
  '/etc/kubernetes',
  '/var/lib/kubelet',
  '/var/lib/docker',
  '/var/lib/containers',
  '/var/lib/containerd',
  '/var/lib/rancher',
  '/var/lib/etcd',
  '/var/lib/lxc',
  '/var/lib/lxd',
  '/var/snap/lxd',
  '/var/lib/incus',
  '/var/lib/machines',
  '/var/lib/libvirt',
  // memory of the machine and its processes; the backend finds swap that is in use
  '/swapfile',
  '/swap.img',
  '/var/crash',
  '/var/lib/systemd/coredump',
  '/var/lib/systemd/credential.secret',
  '/etc/credstore',
  '/etc/credstore.encrypted',
  '/etc/krb5.keytab',
  // the default home; the backend finds others, and the one in use
  '/var/lib/forkpoint',
  '/var/lib/forkpoint-runtime',
]

/**
 * Paths that are hidden in environments made from the root of the host. `*` stays within one path
 * component; a directory hides everything below it.
 */
export const defaultMask: readonly string[] = [
  ...ofTheMachine,
  ...inHomes.flatMap((path) => [`/root/${path}`, `/home/*/${path}`]),
]

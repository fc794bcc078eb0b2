/**
 * Reads what a login reads, in the order of bash. The shell is interactive, so files that do nothing in other
 * shells, as ~/.bashrc often is, do their work too. A file that fails or prints something spoils nothing.
 */
export const loginScript = [
  '[ ! -r /etc/profile ] || . /etc/profile',
  'for __fp_file in ~/.bash_profile ~/.bash_login ~/.profile; do',
  '  [ ! -r "$__fp_file" ] || { . "$__fp_file"; break; }',
  'done',
  'unset __fp_file',
].join('\n')

# Finds the Debian mirrors among the system's apt sources and prints each as a
# deb822 stanza for another suite. Reads one-line (.list) and deb822 (.sources)
# files; stanzas are separated by a line "%%" so that the caller can try them
# one by one (a third-party repository may look just like a mirror).
#
#   awk -v codename=bookworm -v suite=forky -f debian-mirrors.awk FILE...

function is_debian_suite(name) {
  return name == codename || name ~ /^(oldoldstable|oldstable|stable|testing|unstable|sid)$/
}

function has_word(list, word,   words, count, i) {
  count = split(list, words, /[ \t]+/)
  for (i = 1; i <= count; i++) if (words[i] == word) return 1
  return 0
}

function emit(uris, extra) {
  if (uris ~ /^cdrom:/ || ((uris, extra) in seen)) return
  seen[uris, extra] = 1
  printf "Types: deb\nURIs: %s\nSuites: %s\nComponents: main\n%s%%%%\n", uris, suite, extra
}

function one_line_source(   options, i, name, count, parts, extra) {
  sub(/#.*/, "")
  if ($1 != "deb") return
  options = ""
  if (match($0, /\[[^]]*\]/)) {
    options = substr($0, RSTART + 1, RLENGTH - 2)
    $0 = substr($0, 1, RSTART - 1) " " substr($0, RSTART + RLENGTH)
  }
  if (!is_debian_suite($3)) return
  name = ""
  for (i = 4; i <= NF; i++) if ($i == "main") name = $i
  if (name == "") return
  extra = ""
  count = split(options, parts, /[ \t]+/)
  for (i = 1; i <= count; i++)
    if (match(tolower(parts[i]), /^signed-by=/)) extra = "Signed-By: " substr(parts[i], RLENGTH + 1) "\n"
  emit($2, extra)
}

function end_stanza(   words, count, i) {
  count = split(field["suites"], words, /[ \t]+/)
  for (i = 1; i <= count; i++)
    if (is_debian_suite(words[i]) && has_word(field["types"], "deb") &&
        has_word(field["components"], "main") && tolower(field["enabled"]) !~ /^(no|false|0)$/) {
      # Signed-By may be a whole armoured key over many lines; it is kept as it is.
      emit(field["uris"], "signed-by" in field ? "Signed-By: " field["signed-by"] "\n" : "")
      break
    }
  split("", field)
  key = ""
}

function deb822_line(   value) {
  if ($0 ~ /^#/) return
  if ($0 ~ /^[ \t]*$/) { end_stanza(); return }
  if ($0 ~ /^[ \t]/) {
    if (key == "signed-by") field[key] = field[key] "\n" $0
    else if (key != "") { value = $0; gsub(/^[ \t]+|[ \t]+$/, "", value); field[key] = field[key] " " value }
    return
  }
  key = tolower(substr($0, 1, index($0, ":") - 1))
  value = substr($0, index($0, ":") + 1)
  gsub(/^[ \t]+|[ \t]+$/, "", value)
  field[key] = value
}

FNR == 1 { end_stanza() }
{ sub(/\r$/, "") }
FILENAME ~ /\.sources$/ { deb822_line(); next }
{ one_line_source() }
END { end_stanza() }

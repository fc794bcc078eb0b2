# A pipeline of compressors under load gives back what went in.
. ../programs/tool.sh
head -c 600000 /usr/bin/python3 > data 2> /dev/null || head -c 600000 /bin/bash > data
expected=$(md5sum < data)
pass() {
  result=$(slowly 200000 < data | gzip -c | slowly 100000 | gzip -dc | tee copy | md5sum)
  same 'the sum' "$expected" "$result"
}
over_and_over pass

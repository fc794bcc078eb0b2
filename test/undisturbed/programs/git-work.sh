# A repository under work: commits, branches, packing; and it is whole in the end.
. ../programs/tool.sh
git init -q -b main work 2> errors
cd work
git config user.email a@b && git config user.name a && git config gc.auto 0
count=0
commit() {
  count=$((count + 1))
  mkdir -p "d$((count % 5))"
  echo $count > "d$((count % 5))/file$count"
  git add -A && git commit -qm "number $count" || notice "commit $count failed"
  git checkout -q -b "branch$count" && git checkout -q main || notice "checkout $count failed"
  [ $((count % 8)) != 0 ] || git repack -adq || notice 'repack failed'
  same 'commits' $count "$(git rev-list --count HEAD)"
  same 'state' '' "$(git status --porcelain)"
  sleep 0.1
}
over_and_over commit 2> ../errors
git fsck --strict > ../fsck 2>&1 || echo "noticed: $(tail -1 ../fsck)"
[ ! -s ../errors ] || echo "noticed: git said $(head -1 ../errors)"

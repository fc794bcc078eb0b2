# git knows files by inode and change time: what has not changed needs not be read again.
. ../programs/tool.sh
make_tree tree
cp -r /usr/include/linux/can lower-copies
git init -q . 2> errors
git config user.email a@b && git config user.name a
git add tree lower-copies
git commit -qm first
sleep 1
git update-index --refresh > /dev/null
ready
cat <&3 > /dev/null
same 'files that git would read again' '' "$(git diff-files --name-only | head -3)"
same 'state' '?? said' "$(git status --porcelain | grep -v errors)"
[ $noticed = 1 ] || echo ok

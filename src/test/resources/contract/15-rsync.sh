# 15: rsync --delete, and the old protocol of scp
needs rsync scp
at=$(ssh devbox 'mktemp -d')
mkdir "$dir/t"
for n in 1 2 3; do noise 10000 >"$dir/t/$n"; done
ssh devbox "mkdir $at/t; echo >$at/t/old"
rsync -a --delete -e "ssh -F $config" "$dir/t/" "devbox:$at/t/"
scp -O -r "devbox:$at/t" "$dir/u"
diff -r "$dir/t" "$dir/u"
rm "$dir/t/2"
echo more >>"$dir/u/1"
rsync -a --delete -e "ssh -F $config" "$dir/t/" "devbox:$at/t/"
rsync -a --delete -e "ssh -F $config" "devbox:$at/t/" "$dir/u/"
diff -r "$dir/t" "$dir/u"
ssh devbox "rm -r $at"

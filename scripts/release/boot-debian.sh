#!/bin/sh
# Boots the systemd of a Debian in a folder, as process 1 of namespaces of its own, without a network. proof.ts calls it
# through unshare; nothing outside the folder is changed.
#   boot-debian.sh FOLDER
set -eu
folder=$1
mount --bind "$folder" "$folder"
cd "$folder"
mount -t proc proc proc
mount -t tmpfs tmpfs run
mount -t tmpfs tmpfs tmp
mount -t sysfs -o ro sysfs sys || mount --rbind /sys sys
mount --rbind /dev dev
mount -t tmpfs tmpfs sys/fs/cgroup
mkdir sys/fs/cgroup/systemd
mount -t cgroup -o none,name=systemd cgroup sys/fs/cgroup/systemd
ip link set lo up
exec env -i container=docker PATH=/usr/sbin:/usr/bin:/sbin:/bin \
  chroot "$folder" /lib/systemd/systemd --system --log-target=console

"""A filter of system calls for the kernel (seccomp): what a process that reads a stranger's file may not ask for.

It may open files, compute, map memory and start threads of its own. What changes or watches files by their names,
starts or touches other processes, opens sockets, queues, shared memory or keys, changes its rights or the machine is
refused. Numbers are the kernel's own (https://docs.kernel.org/userspace-api/seccomp_filter.html).
"""

import errno
import struct

#: How seccomp marks a machine, and its place in the pairs of ``REFUSED``.
MACHINES = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}
#: Call → its number on x86_64 and on aarch64, None where there is no such call.
REFUSED: dict[str, tuple[int, int | None]] = {
    # what files are: their owners, times, rights, attributes; and watching them
    "chmod": (90, None), "fchmod": (91, 52), "fchmodat": (268, 53), "fchmodat2": (452, 452), "chown": (92, None),
    "lchown": (94, None), "fchown": (93, 55), "fchownat": (260, 54), "utime": (132, None), "utimes": (235, None),
    "futimesat": (261, None), "utimensat": (280, 88), "truncate": (76, 45), "setxattr": (188, 5),
    "lsetxattr": (189, 6), "fsetxattr": (190, 7), "setxattrat": (463, 463), "removexattr": (197, 14),
    "lremovexattr": (198, 15), "fremovexattr": (199, 16), "removexattrat": (466, 466), "file_setattr": (469, 469),
    "name_to_handle_at": (303, 264), "open_by_handle_at": (304, 265), "inotify_init": (253, None),
    "inotify_init1": (294, 26), "fanotify_init": (300, 262), "quotactl": (179, 60), "quotactl_fd": (443, 443),
    # other processes, and programs
    "fork": (57, None), "vfork": (58, None), "execve": (59, 221), "execveat": (322, 281), "memfd_create": (319, 279),
    "memfd_secret": (447, 447), "kill": (62, 129), "tkill": (200, 130), "tgkill": (234, 131),
    "rt_sigqueueinfo": (129, 138), "rt_tgsigqueueinfo": (297, 240), "pidfd_open": (434, 434),
    "pidfd_getfd": (438, 438), "pidfd_send_signal": (424, 424), "ptrace": (101, 117), "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271), "process_madvise": (440, 440), "process_mrelease": (448, 448),
    "kcmp": (312, 272), "move_pages": (279, 239), "migrate_pages": (256, 238), "setsid": (112, 157),
    "setpgid": (109, 154), "prctl": (157, 167),
    # priority and limits
    "setpriority": (141, 140), "ioprio_set": (251, 30), "sched_setscheduler": (144, 119),
    "sched_setparam": (142, 118), "sched_setattr": (314, 274), "sched_setaffinity": (203, 122),
    "prlimit64": (302, 261),
    # sockets, queues, shared memory, keys
    "socket": (41, 198), "connect": (42, 203), "bind": (49, 200), "listen": (50, 201), "accept": (43, 202),
    "accept4": (288, 242), "io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "io_uring_register": (427, 427),
    "shmget": (29, 194), "shmat": (30, 196), "shmctl": (31, 195), "shmdt": (67, 197), "semget": (64, 190),
    "semctl": (66, 191), "semop": (65, 193), "semtimedop": (220, 192), "msgget": (68, 186), "msgsnd": (69, 189),
    "msgrcv": (70, 188), "msgctl": (71, 187), "mq_open": (240, 180), "mq_unlink": (241, 181), "add_key": (248, 217),
    "request_key": (249, 218), "keyctl": (250, 219),
    # rights, namespaces and mounts
    "setuid": (105, 146), "setgid": (106, 144), "setreuid": (113, 145), "setregid": (114, 143),
    "setresuid": (117, 147), "setresgid": (119, 149), "setfsuid": (122, 151), "setfsgid": (123, 152),
    "setgroups": (116, 159), "capset": (126, 91), "personality": (135, 92), "unshare": (272, 97),
    "setns": (308, 268), "chroot": (161, 51), "pivot_root": (155, 41), "mount": (165, 40), "umount2": (166, 39),
    "move_mount": (429, 429), "open_tree": (428, 428), "open_tree_attr": (467, 467), "mount_setattr": (442, 442),
    "fsopen": (430, 430), "fsconfig": (431, 431), "fsmount": (432, 432), "fspick": (433, 433),
    # the machine
    "bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282), "syslog": (103, 116),
    "acct": (163, 89), "reboot": (169, 142), "swapon": (167, 224), "swapoff": (168, 225), "sethostname": (170, 161),
    "setdomainname": (171, 162), "settimeofday": (164, 170), "clock_settime": (227, 112), "adjtimex": (159, 171),
    "clock_adjtime": (305, 266), "init_module": (175, 105), "finit_module": (313, 273), "delete_module": (176, 106),
    "kexec_load": (246, 104), "kexec_file_load": (320, 294), "iopl": (172, None), "ioperm": (173, None),
    "modify_ldt": (154, None), "vhangup": (153, 58),
}  # fmt: skip
#: ``clone`` starts threads, and without ``_THREAD`` among its flags (the first argument) processes. ``clone3`` has its
#: flags in memory, which a filter cannot read: told that there is no such call, the C library uses ``clone``.
_CLONE, _CLONE3, _THREAD = (56, 220), (435, 435), 0x10000
#: A pair of sockets may only be of streams (type 1): the halves of other pairs can send to any socket of the machine.
_PAIR, _NO_STREAM = (53, 199), 0xE
ALLOW, REFUSE, UNKNOWN, KILL = 0x7FFF0000, 0x00050000 | errno.EPERM, 0x00050000 | errno.ENOSYS, 0x80000000
_LOAD, _EQUAL, _AT_LEAST, _HAS, _ANSWER = 0x20, 0x15, 0x35, 0x45, 0x06
#: Where the number of the call, the machine's mark and the low halves of the first two arguments lie.
_NUMBER, _MARK, _FLAGS, _TYPE = 0, 4, 16, 24


def seccomp_filter(machine: str) -> bytes | None:
    """The filter that refuses the calls of ``REFUSED``, as the kernel reads it; ``None`` for an unknown machine.

    A step is (code, steps to skip if true, if false, value).
    """
    if machine not in MACHINES:
        return None
    mark, column = MACHINES[machine]
    numbers = [pair[column] for pair in REFUSED.values() if pair[column] is not None]
    count = len(numbers)  # comparisons; after them, in order: allow, refuse, unknown, flags of clone, type of a pair
    steps = [(_LOAD, 0, 0, _MARK), (_EQUAL, 1, 0, mark), (_ANSWER, 0, 0, KILL), (_LOAD, 0, 0, _NUMBER)]
    steps.append((_AT_LEAST, count + 4, 0, 0x40000000))  # x86_64's second numbering of the same calls
    steps += [(_EQUAL, count + 5, 0, _CLONE[column]), (_EQUAL, count + 3, 0, _CLONE3[column])]
    steps.append((_EQUAL, count + 7, 0, _PAIR[column]))
    steps += [(_EQUAL, count - at, 0, number or 0) for at, number in enumerate(numbers)]
    steps += [(_ANSWER, 0, 0, answer) for answer in (ALLOW, REFUSE, UNKNOWN)]
    steps += [(_LOAD, 0, 0, _FLAGS), (_HAS, 0, 1, _THREAD), (_ANSWER, 0, 0, ALLOW), (_ANSWER, 0, 0, REFUSE)]
    steps += [(_LOAD, 0, 0, _TYPE), (_HAS, 0, 1, _NO_STREAM), (_ANSWER, 0, 0, REFUSE), (_ANSWER, 0, 0, ALLOW)]
    return b"".join(struct.pack("=HBBI", *step) for step in steps)

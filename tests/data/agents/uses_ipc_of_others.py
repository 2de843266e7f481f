"""Looks for other programs' memory, queues, semaphores and files; answers with column 99 if that works."""

import ctypes
import os

X86 = {"shmget": 29, "shmat": 30, "shmctl": 31, "shmdt": 67, "semget": 64, "semop": 65, "semctl": 66}
X86 |= {"semtimedop": 220, "msgget": 68, "msgsnd": 69, "msgrcv": 70, "msgctl": 71, "mq_open": 240}
X86 |= {"mq_unlink": 241, "mq_timedsend": 242, "mq_timedreceive": 243, "mq_notify": 244}
X86 |= {"inotify_add_watch": 254, "inotify_init1": 294, "fanotify_init": 300, "fanotify_mark": 301}
ARM = {"shmget": 194, "shmat": 196, "shmctl": 195, "shmdt": 197, "semget": 190, "semop": 193}
ARM |= {"semctl": 191, "semtimedop": 192, "msgget": 186, "msgsnd": 189, "msgrcv": 188}
ARM |= {"msgctl": 187, "mq_open": 180, "mq_unlink": 181, "mq_timedsend": 182}
ARM |= {"mq_timedreceive": 183, "mq_notify": 184, "inotify_init1": 26, "inotify_add_watch": 27}
ARM |= {"fanotify_init": 262, "fanotify_mark": 263}
EPERM = 1


def works():
    libc = ctypes.CDLL(None, use_errno=True)
    for number in (X86 if os.uname().machine == "x86_64" else ARM).values():
        if libc.syscall(number, 0, 0, 0, 0, 0) >= 0 or ctypes.get_errno() != EPERM:
            return True
    return False

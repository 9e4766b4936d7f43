/*
 * An agent for tests: counts each entry of a method with its caller, by JVMTI events, between the
 * entries of `Window.open` and `Window.close`. It shares the JVM with Veneer, whose counters it sets to
 * zero at the first moment. At the second one it writes its own counts and ends the process. So both
 * have counted the same calls.
 *
 *     java -agentpath:call_window.so=FILE,DIRECTORY ...
 *
 * DIRECTORY is Veneer's data directory. FILE has a line for each caller and entered method:
 *
 *     caller-class caller-method caller-is-native class method is-native count
 *
 * The JVM as a caller is `- - 0`. Calls below a method of Veneer are left out.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <jvmti.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SLOTS (1 << 22)
#define DEPTH 8

/* Veneer makes weak references, so calls in their package may be below a method of Veneer. */
enum kind { UNKNOWN, ORDINARY, REFERENCE, VENEER, OPEN, CLOSE };

struct known {
    jmethodID method;
    enum kind kind;
};

struct edge {
    jmethodID callee;
    jmethodID caller;
    long count;
};

static struct known *known;
static struct edge *edges;
static long used;
static jrawMonitorID lock;
static char *file;
static char *directory;
static int is_open;

static unsigned long mix(unsigned long value) {
    value *= 0x9e3779b97f4a7c15UL;
    return value ^ value >> 29;
}

static enum kind kind_of(jvmtiEnv *env, JNIEnv *jni, jmethodID method) {
    unsigned long at = mix((unsigned long)method) % SLOTS;
    while (known[at].method != NULL && known[at].method != method) {
        at = (at + 1) % SLOTS;
    }
    if (known[at].method == method) {
        return known[at].kind;
    }
    jclass class = NULL;
    char *signature = NULL, *name = NULL;
    enum kind kind = ORDINARY;
    if ((*env)->GetMethodDeclaringClass(env, method, &class) == JVMTI_ERROR_NONE &&
        (*env)->GetClassSignature(env, class, &signature, NULL) == JVMTI_ERROR_NONE &&
        (*env)->GetMethodName(env, method, &name, NULL, NULL) == JVMTI_ERROR_NONE) {
        if (strncmp(signature, "Ljava/lang/invoke/Veneer", 24) == 0) {
            kind = VENEER;
        } else if (strncmp(signature, "Ljava/lang/ref/", 15) == 0) {
            kind = REFERENCE;
        } else if (strcmp(signature, "LWindow;") == 0 && strcmp(name, "open") == 0) {
            kind = OPEN;
        } else if (strcmp(signature, "LWindow;") == 0 && strcmp(name, "close") == 0) {
            kind = CLOSE;
        }
        (*env)->Deallocate(env, (unsigned char *)signature);
        (*env)->Deallocate(env, (unsigned char *)name);
    }
    (*jni)->DeleteLocalRef(jni, class);
    known[at].kind = kind;
    known[at].method = method;
    return kind;
}

static void zero_counters(void) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%d-complete-calls/counters.bin", directory, (int)getpid());
    int counters = open(path, O_RDWR);
    struct stat about;
    if (counters < 0 || fstat(counters, &about) != 0 ||
        fallocate(counters, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, about.st_size) != 0) {
        perror(path);
        _exit(99);
    }
    close(counters);
}

static int describe(jvmtiEnv *env, JNIEnv *jni, jmethodID method, char *text, size_t size) {
    jclass class = NULL;
    char *signature = NULL, *name = NULL, *descriptor = NULL;
    jboolean is_native = 0;
    if (method == NULL || (*env)->GetMethodDeclaringClass(env, method, &class) != JVMTI_ERROR_NONE ||
        (*env)->GetClassSignature(env, class, &signature, NULL) != JVMTI_ERROR_NONE ||
        (*env)->GetMethodName(env, method, &name, &descriptor, NULL) != JVMTI_ERROR_NONE) {
        return 0;
    }
    (*env)->IsMethodNative(env, method, &is_native);
    signature[strlen(signature) - 1] = 0;
    snprintf(text, size, "%s %s%s %d", signature + 1, name, descriptor, is_native);
    (*env)->Deallocate(env, (unsigned char *)signature);
    (*env)->Deallocate(env, (unsigned char *)name);
    (*env)->Deallocate(env, (unsigned char *)descriptor);
    (*jni)->DeleteLocalRef(jni, class);
    return 1;
}

static void finish(jvmtiEnv *env, JNIEnv *jni) {
    char callee[4096], caller[4096];
    FILE *out = fopen(file, "w");
    for (long at = 0; out != NULL && at < SLOTS; at++) {
        struct edge *edge = &edges[at];
        if (edge->count == 0 || !describe(env, jni, edge->callee, callee, sizeof callee)) {
            continue;
        }
        int has_caller = describe(env, jni, edge->caller, caller, sizeof caller);
        fprintf(out, "%s %s %ld\n", has_caller ? caller : "- - 0", callee, edge->count);
    }
    if (out != NULL) {
        fprintf(out, "%s\n", used > SLOTS / 2 ? "full" : "end");
        fclose(out);
    }
    fflush(NULL);
    _exit(0);
}

static void JNICALL on_entry(jvmtiEnv *env, JNIEnv *jni, jthread thread, jmethodID method) {
    jvmtiFrameInfo frames[DEPTH];
    jint count = 0;
    (*env)->RawMonitorEnter(env, lock);
    enum kind kind = kind_of(env, jni, method);
    if (kind == OPEN) {
        zero_counters();
        is_open = 1;
    } else if (kind == CLOSE) {
        finish(env, jni);
    } else if (kind != VENEER && is_open &&
               (*env)->GetStackTrace(env, thread, 0, 2, frames, &count) == JVMTI_ERROR_NONE) {
        enum kind above = count > 1 ? kind_of(env, jni, frames[1].method) : ORDINARY;
        if (above == REFERENCE) {
            (*env)->GetStackTrace(env, thread, 0, DEPTH, frames, &count);
            for (int i = 2; i < count && above != VENEER; i++) {
                above = kind_of(env, jni, frames[i].method);
            }
        }
        int is_ordinary = above != VENEER;
        jmethodID caller = count > 1 ? frames[1].method : NULL;
        unsigned long at = (mix((unsigned long)method) ^ mix((unsigned long)caller + 1)) % SLOTS;
        while (is_ordinary && used <= SLOTS / 2) {
            struct edge *edge = &edges[at];
            if (edge->count == 0) {
                used++;
                edge->callee = method;
                edge->caller = caller;
            }
            if (edge->callee == method && edge->caller == caller) {
                edge->count++;
                break;
            }
            at = (at + 1) % SLOTS;
        }
    }
    (*env)->RawMonitorExit(env, lock);
}

static void JNICALL on_start(jvmtiEnv *env, JNIEnv *jni, jthread thread) {
    (void)jni;
    (void)thread;
    (*env)->SetEventNotificationMode(env, JVMTI_ENABLE, JVMTI_EVENT_METHOD_ENTRY, NULL);
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved) {
    jvmtiEnv *env = NULL;
    (void)reserved;
    char *comma = options == NULL ? NULL : strchr(options, ',');
    if (comma == NULL || (*vm)->GetEnv(vm, (void **)&env, JVMTI_VERSION_1_2) != JNI_OK) {
        return JNI_ERR;
    }
    file = strndup(options, comma - options);
    directory = strdup(comma + 1);
    edges = calloc(SLOTS, sizeof *edges);
    known = calloc(SLOTS, sizeof *known);
    jvmtiCapabilities wanted = {0};
    wanted.can_generate_method_entry_events = 1;
#ifdef JNI_VERSION_21
    wanted.can_support_virtual_threads = 1;
#endif
    jvmtiEventCallbacks callbacks = {0};
    callbacks.MethodEntry = on_entry;
    callbacks.VMInit = on_start;
    if (edges == NULL || known == NULL || (*env)->AddCapabilities(env, &wanted) != JVMTI_ERROR_NONE ||
        (*env)->CreateRawMonitor(env, "edges", &lock) != JVMTI_ERROR_NONE ||
        (*env)->SetEventCallbacks(env, &callbacks, sizeof callbacks) != JVMTI_ERROR_NONE ||
        (*env)->SetEventNotificationMode(env, JVMTI_ENABLE, JVMTI_EVENT_VM_INIT, NULL) != JVMTI_ERROR_NONE) {
        return JNI_ERR;
    }
    return JNI_OK;
}

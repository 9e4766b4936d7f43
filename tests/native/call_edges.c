/*
 * An agent for tests: counts each entry of a method with its caller, by JVMTI events. It is slow,
 * because the JVM interprets everything and each event asks for the stack.
 *
 *     java -agentpath:call_edges.so=FILE,PREFIX ...
 *
 * When the JVM ends, FILE has a line for each caller, bytecode index and entered method whose class
 * begins with PREFIX (with slashes):
 *
 *     caller-class caller-method index class method count
 *
 * A caller of another class, of native code or of the JVM is `- - -1`.
 */
#include <jvmti.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS (1 << 20)

struct edge {
    jmethodID callee;
    jmethodID caller;
    jlocation index;
    long count;
};

static struct edge *edges;
static long used;
static jrawMonitorID lock;
static char *file;
static char *prefix;
static int is_over;

static void JNICALL on_entry(jvmtiEnv *env, JNIEnv *jni, jthread thread, jmethodID method) {
    jvmtiFrameInfo frames[2];
    jint count = 0;
    (void)jni;
    if ((*env)->GetStackTrace(env, thread, 0, 2, frames, &count) != JVMTI_ERROR_NONE) {
        return;
    }
    jmethodID caller = count > 1 ? frames[1].method : NULL;
    jlocation index = count > 1 ? frames[1].location : -1;
    unsigned long hash = (unsigned long)method * 0x9e3779b97f4a7c15UL;
    hash = (hash ^ (unsigned long)caller ^ (unsigned long)index) * 0x9e3779b97f4a7c15UL;
    (*env)->RawMonitorEnter(env, lock);
    for (unsigned long at = hash >> 44;; at = (at + 1) % SLOTS) {
        struct edge *edge = &edges[at];
        if (edge->count == 0) {
            if (is_over || used > SLOTS / 2) {
                break;
            }
            used++;
            edge->callee = method;
            edge->caller = caller;
            edge->index = index;
        }
        if (edge->callee == method && edge->caller == caller && edge->index == index) {
            edge->count += !is_over;
            break;
        }
    }
    (*env)->RawMonitorExit(env, lock);
}

/* Writes `class method` to the text. Returns whether the class begins with the prefix. */
static int describe(jvmtiEnv *env, JNIEnv *jni, jmethodID method, char *text, size_t size) {
    jclass class = NULL;
    char *signature = NULL, *name = NULL, *descriptor = NULL;
    if (method == NULL || (*env)->GetMethodDeclaringClass(env, method, &class) != JVMTI_ERROR_NONE ||
        (*env)->GetClassSignature(env, class, &signature, NULL) != JVMTI_ERROR_NONE ||
        (*env)->GetMethodName(env, method, &name, &descriptor, NULL) != JVMTI_ERROR_NONE) {
        return 0;
    }
    int is_wanted = strncmp(signature + 1, prefix, strlen(prefix)) == 0;
    signature[strlen(signature) - 1] = 0;
    snprintf(text, size, "%s %s%s", signature + 1, name, descriptor);
    (*env)->Deallocate(env, (unsigned char *)signature);
    (*env)->Deallocate(env, (unsigned char *)name);
    (*env)->Deallocate(env, (unsigned char *)descriptor);
    (*jni)->DeleteLocalRef(jni, class);
    return is_wanted;
}

static void JNICALL on_death(jvmtiEnv *env, JNIEnv *jni) {
    char callee[4096], caller[4096];
    (*env)->RawMonitorEnter(env, lock);
    is_over = 1;
    (*env)->RawMonitorExit(env, lock);
    FILE *out = fopen(file, "w");
    if (out == NULL) {
        return;
    }
    for (long at = 0; at < SLOTS; at++) {
        struct edge *edge = &edges[at];
        if (edge->count == 0 || !describe(env, jni, edge->callee, callee, sizeof callee)) {
            continue;
        }
        if (describe(env, jni, edge->caller, caller, sizeof caller)) {
            fprintf(out, "%s %ld %s %ld\n", caller, (long)edge->index, callee, edge->count);
        } else {
            fprintf(out, "- - -1 %s %ld\n", callee, edge->count);
        }
    }
    fprintf(out, "%s\n", used > SLOTS / 2 ? "full" : "end");
    fclose(out);
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved) {
    jvmtiEnv *env = NULL;
    (void)reserved;
    char *comma = options == NULL ? NULL : strchr(options, ',');
    if (comma == NULL || (*vm)->GetEnv(vm, (void **)&env, JVMTI_VERSION_1_2) != JNI_OK) {
        return JNI_ERR;
    }
    file = strndup(options, comma - options);
    prefix = strdup(comma + 1);
    edges = calloc(SLOTS, sizeof *edges);
    jvmtiCapabilities wanted = {0};
    wanted.can_generate_method_entry_events = 1;
#ifdef JNI_VERSION_21
    wanted.can_support_virtual_threads = 1;
#endif
    jvmtiEventCallbacks callbacks = {0};
    callbacks.MethodEntry = on_entry;
    callbacks.VMDeath = on_death;
    if (edges == NULL || (*env)->AddCapabilities(env, &wanted) != JVMTI_ERROR_NONE ||
        (*env)->CreateRawMonitor(env, "edges", &lock) != JVMTI_ERROR_NONE ||
        (*env)->SetEventCallbacks(env, &callbacks, sizeof callbacks) != JVMTI_ERROR_NONE ||
        (*env)->SetEventNotificationMode(env, JVMTI_ENABLE, JVMTI_EVENT_METHOD_ENTRY, NULL) != JVMTI_ERROR_NONE ||
        (*env)->SetEventNotificationMode(env, JVMTI_ENABLE, JVMTI_EVENT_VM_DEATH, NULL) != JVMTI_ERROR_NONE) {
        return JNI_ERR;
    }
    return JNI_OK;
}

/*
 * An agent for tests: writes the entries and exits of methods, thread by thread, by JVMTI events. It
 * is slow, because the JVM interprets everything.
 *
 *     java -agentpath:call_trace.so=FILE,PREFIX ...
 *
 * When the JVM ends, FILE has for each platform thread a line `thread NAME`, and then a line for each
 * event of a method whose class begins with PREFIX (with slashes):
 *
 *     > class method      entry; the method has its descriptor
 *     <                   exit
 *     !                   exit by an exception
 */
#include <jvmti.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KNOWN 4096

struct event {
    char kind;
    jmethodID method;
};

struct thread {
    struct thread *next;
    char *name;
    struct event *events;
    size_t count;
    size_t room;
    /* Methods by hash, and whether their class is wanted. */
    jmethodID known[KNOWN];
    char is_wanted[KNOWN];
};

static struct thread *threads;
static __thread struct thread *current;
static jrawMonitorID lock;
static char *file;
static char *prefix;
static volatile int is_over;

/* Writes `class method` to the text. Returns whether the class begins with the prefix. */
static int describe(jvmtiEnv *env, JNIEnv *jni, jmethodID method, char *text, size_t size) {
    jclass class = NULL;
    char *signature = NULL, *name = NULL, *descriptor = NULL;
    if ((*env)->GetMethodDeclaringClass(env, method, &class) != JVMTI_ERROR_NONE ||
        (*env)->GetClassSignature(env, class, &signature, NULL) != JVMTI_ERROR_NONE ||
        (*env)->GetMethodName(env, method, &name, &descriptor, NULL) != JVMTI_ERROR_NONE) {
        return 0;
    }
    int is_wanted = strncmp(signature + 1, prefix, strlen(prefix)) == 0;
    if (text != NULL) {
        signature[strlen(signature) - 1] = 0;
        snprintf(text, size, "%s %s%s", signature + 1, name, descriptor);
    }
    (*env)->Deallocate(env, (unsigned char *)signature);
    (*env)->Deallocate(env, (unsigned char *)name);
    (*env)->Deallocate(env, (unsigned char *)descriptor);
    (*jni)->DeleteLocalRef(jni, class);
    return is_wanted;
}

static void add(jvmtiEnv *env, JNIEnv *jni, jthread object, char kind, jmethodID method) {
    if (is_over) {
        return;
    }
    struct thread *thread = current;
    if (thread == NULL) {
        jvmtiThreadInfo info = {0};
        thread = calloc(1, sizeof *thread);
        if (thread == NULL || (*env)->GetThreadInfo(env, object, &info) != JVMTI_ERROR_NONE) {
            abort();
        }
        thread->name = strdup(info.name);
        current = thread;
        (*env)->RawMonitorEnter(env, lock);
        thread->next = threads;
        threads = thread;
        (*env)->RawMonitorExit(env, lock);
    }
    size_t at = ((unsigned long)method * 0x9e3779b97f4a7c15UL) >> 52;
    if (thread->known[at] != method) {
        thread->known[at] = method;
        thread->is_wanted[at] = describe(env, jni, method, NULL, 0);
    }
    if (!thread->is_wanted[at]) {
        return;
    }
    if (thread->count == thread->room) {
        thread->room = thread->room == 0 ? 1 << 16 : 2 * thread->room;
        thread->events = realloc(thread->events, thread->room * sizeof *thread->events);
        if (thread->events == NULL) {
            abort();
        }
    }
    thread->events[thread->count].kind = kind;
    thread->events[thread->count].method = method;
    thread->count++;
}

static void JNICALL on_entry(jvmtiEnv *env, JNIEnv *jni, jthread thread, jmethodID method) {
    add(env, jni, thread, '>', method);
}

static void JNICALL on_exit_of(jvmtiEnv *env, JNIEnv *jni, jthread thread, jmethodID method,
                               jboolean is_thrown, jvalue value) {
    (void)value;
    add(env, jni, thread, is_thrown ? '!' : '<', method);
}

static void JNICALL on_death(jvmtiEnv *env, JNIEnv *jni) {
    char text[4096];
    is_over = 1;
    FILE *out = fopen(file, "w");
    if (out == NULL) {
        return;
    }
    (*env)->RawMonitorEnter(env, lock);
    for (struct thread *thread = threads; thread != NULL; thread = thread->next) {
        fprintf(out, "thread %s\n", thread->name);
        for (size_t at = 0; at < thread->count; at++) {
            struct event *event = &thread->events[at];
            if (event->kind == '>' && describe(env, jni, event->method, text, sizeof text)) {
                fprintf(out, "> %s\n", text);
            } else {
                fprintf(out, "%c\n", event->kind);
            }
        }
    }
    (*env)->RawMonitorExit(env, lock);
    fprintf(out, "end\n");
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
    jvmtiCapabilities wanted = {0};
    wanted.can_generate_method_entry_events = 1;
    wanted.can_generate_method_exit_events = 1;
    jvmtiEventCallbacks callbacks = {0};
    callbacks.MethodEntry = on_entry;
    callbacks.MethodExit = on_exit_of;
    callbacks.VMDeath = on_death;
    if ((*env)->AddCapabilities(env, &wanted) != JVMTI_ERROR_NONE ||
        (*env)->CreateRawMonitor(env, "threads", &lock) != JVMTI_ERROR_NONE ||
        (*env)->SetEventCallbacks(env, &callbacks, sizeof callbacks) != JVMTI_ERROR_NONE ||
        (*env)->SetEventNotificationMode(env, JVMTI_ENABLE, JVMTI_EVENT_METHOD_ENTRY, NULL) != JVMTI_ERROR_NONE ||
        (*env)->SetEventNotificationMode(env, JVMTI_ENABLE, JVMTI_EVENT_METHOD_EXIT, NULL) != JVMTI_ERROR_NONE ||
        (*env)->SetEventNotificationMode(env, JVMTI_ENABLE, JVMTI_EVENT_VM_DEATH, NULL) != JVMTI_ERROR_NONE) {
        return JNI_ERR;
    }
    return JNI_OK;
}

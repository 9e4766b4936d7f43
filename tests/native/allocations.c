/*
 * An agent for tests: counts the allocated objects of each class, by JVMTI's event of sampled allocations
 * with the interval 0, so that each allocation is sampled. The program must run with -Xint: a JIT compiler
 * removes allocations.
 *
 *     java -Xint -agentpath:allocations.so=FILE,PREFIX ...
 *
 * When the JVM ends, FILE has a line for each class whose signature begins with PREFIX:
 *
 *     signature objects bytes
 */
#include <jvmti.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CLASSES 4096

struct allocated {
    char *signature;
    long objects;
    long bytes;
};

static struct allocated classes[CLASSES];
static jrawMonitorID lock;
static char *file;
static char *prefix;

static void JNICALL on_allocation(
    jvmtiEnv *env, JNIEnv *jni, jthread thread, jobject object, jclass type, jlong size) {
    char *signature = NULL;
    (void)jni;
    (void)thread;
    (void)object;
    if ((*env)->GetClassSignature(env, type, &signature, NULL) != JVMTI_ERROR_NONE) {
        return;
    }
    if (strncmp(signature, prefix, strlen(prefix)) == 0) {
        (*env)->RawMonitorEnter(env, lock);
        for (int i = 0; i < CLASSES; i++) {
            if (classes[i].signature == NULL) {
                classes[i].signature = strdup(signature);
            }
            if (strcmp(classes[i].signature, signature) == 0) {
                classes[i].objects++;
                classes[i].bytes += size;
                break;
            }
        }
        (*env)->RawMonitorExit(env, lock);
    }
    (*env)->Deallocate(env, (unsigned char *)signature);
}

static void JNICALL on_death(jvmtiEnv *env, JNIEnv *jni) {
    FILE *out = fopen(file, "w");
    (void)env;
    (void)jni;
    for (int i = 0; out != NULL && i < CLASSES && classes[i].signature != NULL; i++) {
        fprintf(out, "%s %ld %ld\n", classes[i].signature, classes[i].objects, classes[i].bytes);
    }
    if (out != NULL) {
        fclose(out);
    }
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved) {
    jvmtiEnv *env = NULL;
    jvmtiCapabilities capabilities;
    jvmtiEventCallbacks callbacks;
    (void)reserved;
    if (options == NULL || strchr(options, ',') == NULL) {
        return JNI_ERR;
    }
    file = strdup(options);
    prefix = strchr(file, ',');
    *prefix++ = '\0';
    if ((*vm)->GetEnv(vm, (void **)&env, JVMTI_VERSION_11) != JNI_OK) {
        return JNI_ERR;
    }
    memset(&capabilities, 0, sizeof capabilities);
    capabilities.can_generate_sampled_object_alloc_events = 1;
    memset(&callbacks, 0, sizeof callbacks);
    callbacks.SampledObjectAlloc = on_allocation;
    callbacks.VMDeath = on_death;
    if ((*env)->AddCapabilities(env, &capabilities) != JVMTI_ERROR_NONE ||
        (*env)->CreateRawMonitor(env, "allocations", &lock) != JVMTI_ERROR_NONE ||
        (*env)->SetEventCallbacks(env, &callbacks, sizeof callbacks) != JVMTI_ERROR_NONE ||
        (*env)->SetHeapSamplingInterval(env, 0) != JVMTI_ERROR_NONE ||
        (*env)->SetEventNotificationMode(env, JVMTI_ENABLE, JVMTI_EVENT_SAMPLED_OBJECT_ALLOC, NULL) !=
            JVMTI_ERROR_NONE ||
        (*env)->SetEventNotificationMode(env, JVMTI_ENABLE, JVMTI_EVENT_VM_DEATH, NULL) !=
            JVMTI_ERROR_NONE) {
        return JNI_ERR;
    }
    return JNI_OK;
}

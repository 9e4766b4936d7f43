/*
 * An agent for benchmarks: takes the JVM's events of entries and exits of methods, and counts them. The
 * JVM then interprets all code, or calls the agent from compiled code.
 *
 *     java -agentpath:call_events.so ...
 */
#include <jvmti.h>
#include <string.h>

static __thread unsigned long events;

static void JNICALL entered(jvmtiEnv *env, JNIEnv *jni, jthread thread, jmethodID method) {
    events++;
}

static void JNICALL left(jvmtiEnv *env, JNIEnv *jni, jthread thread, jmethodID method,
                         jboolean by_exception, jvalue value) {
    events++;
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved) {
    jvmtiEnv *env = NULL;
    jvmtiCapabilities capabilities;
    jvmtiEventCallbacks callbacks;
    if ((*vm)->GetEnv(vm, (void **)&env, JVMTI_VERSION_11) != JNI_OK) {
        return JNI_ERR;
    }
    memset(&capabilities, 0, sizeof capabilities);
    capabilities.can_generate_method_entry_events = 1;
    capabilities.can_generate_method_exit_events = 1;
    memset(&callbacks, 0, sizeof callbacks);
    callbacks.MethodEntry = entered;
    callbacks.MethodExit = left;
    if ((*env)->AddCapabilities(env, &capabilities) != JVMTI_ERROR_NONE ||
        (*env)->SetEventCallbacks(env, &callbacks, sizeof callbacks) != JVMTI_ERROR_NONE ||
        (*env)->SetEventNotificationMode(env, JVMTI_ENABLE, JVMTI_EVENT_METHOD_ENTRY, NULL) != JVMTI_ERROR_NONE ||
        (*env)->SetEventNotificationMode(env, JVMTI_ENABLE, JVMTI_EVENT_METHOD_EXIT, NULL) != JVMTI_ERROR_NONE) {
        return JNI_ERR;
    }
    return JNI_OK;
}
